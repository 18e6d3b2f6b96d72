import { type ReplayedObjects, replayInto, withObjects } from '../db/commit/history.ts';
import {
  type HistoryExtent,
  type HistoryPosition,
  loadBase,
  readChanges,
  readHistoryExtent,
} from '../db/commit/past.ts';
import type { Database } from '../db/database.ts';
import type { Registry } from '../model/declare/registry.ts';
import { Conflict, NotFound, Unavailable } from '../model/errors.ts';
import type { Snapshot } from '../model/state/snapshot.ts';
import type { Snapshots } from './snapshots.ts';

/** Past states of accounts. */
export interface PastStates {
  /**
   * Returns the state after a revision: the oldest kept state, or a state that is replayed from the kept changes.
   * Throws `NotFound` for a revision that never existed, and `Conflict` (`gone`) for a revision that is not kept any
   * more. Settings of sources are not part of the state.
   */
  at(account: string, revision: number): Promise<Snapshot>;
  /** Removes a deleted account from the cache. */
  drop(account: string): void;
  /** Empties the cache. */
  clear(): void;
}

/** Number of changes that are read at once. */
const pageSize = 2000;

/** Maximum number of cached states, and of objects in them. */
const capacity = { states: 6, objects: 200_000 };

/** Maximum number of replays, when the history is folded during the reads. */
const maxAttempts = 5;

/** A cached state. States share unchanged objects, so counting all objects of each state overestimates the memory. */
interface CachedState {
  readonly state: Snapshot;
  readonly validFrom: number;
}

/** Creates the source of past states. Caches the states that were replayed last. */
export function createPastStates(database: Database, registry: Registry, snapshots: Snapshots): PastStates {
  const known: CachedState[] = [];

  const nearest = (account: string, revision: number, { base, validFrom }: HistoryExtent): Snapshot | undefined =>
    known
      .filter((item) => item.state.account === account && item.validFrom === validFrom)
      .map(({ state }) => state)
      .filter((state) => state.revision <= revision && state.revision >= base)
      .sort((a, b) => b.revision - a.revision)[0];

  const keep = (state: Snapshot, { validFrom }: HistoryExtent): Snapshot => {
    known.unshift({ state, validFrom });
    let objects = 0;
    const fitting = known.findIndex((item, at) => {
      objects += item.state.size;
      return at >= capacity.states || (at > 0 && objects > capacity.objects);
    });
    if (fitting > 0) known.splice(fitting);
    return state;
  };

  const replayTo = async (account: string, revision: number): Promise<Snapshot | undefined> => {
    const kept = requireStoredRevision(account, revision, await readHistoryExtent(database, account));
    const start = nearest(account, revision, kept) ?? (await baseState(database, registry, account));
    if (start.revision > revision) return undefined;
    if (start.revision === revision) return start;
    const objects: ReplayedObjects = new Map();
    let after: HistoryPosition = { revision: start.revision, seq: Number.MAX_SAFE_INTEGER };
    for (;;) {
      const { kept: still, rows } = await readChanges(database, account, { after, until: revision, limit: pageSize });
      // Changes that were folded away since the first read are missing from these rows.
      if (still === undefined || still.base > after.revision || still.validFrom !== kept.validFrom) return undefined;
      replayInto(objects, start, rows);
      const last = rows.at(-1);
      if (last === undefined || rows.length < pageSize) return keep(withObjects(start, objects, revision), kept);
      after = last;
    }
  };

  return {
    async at(account, revision) {
      const present = await snapshots.current(account);
      if (present.revision === revision) return present;
      for (let attempt = 0; attempt < maxAttempts; attempt++) {
        const state = await replayTo(account, revision);
        if (state !== undefined) return state;
      }
      throw new Unavailable('old revisions were removed from the history while it was read; try again');
    },
    drop(account) {
      const others = known.filter(({ state }) => state.account !== account);
      known.splice(0, known.length, ...others);
    },
    clear: () => known.splice(0),
  };
}

/**
 * Returns the extent of the account's history when the revision is part of it. Throws `NotFound` when the account or
 * the revision does not exist, and `Conflict` (`gone`) when the revision is not kept any more.
 */
export function requireStoredRevision(
  account: string,
  revision: number,
  kept: HistoryExtent | undefined,
): HistoryExtent {
  if (kept === undefined) throw new NotFound(`account ${account} not found`);
  if (revision > kept.head || revision < 0)
    throw new NotFound(`revision ${revision} not found; the newest one is ${kept.head}`);
  if (revision >= kept.base) return kept;
  throw new Conflict(
    'gone',
    `revision ${revision} is no longer kept; the history begins at revision ${kept.base}. HEDDLE_HISTORY_REVISIONS and HEDDLE_HISTORY_DAYS set how much is kept`,
  );
}

async function baseState(database: Database, registry: Registry, account: string): Promise<Snapshot> {
  const base = await loadBase(database, registry, account);
  if (base === undefined) throw new NotFound(`account ${account} not found`);
  return base.state;
}
