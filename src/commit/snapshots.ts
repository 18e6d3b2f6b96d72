import { catchUp, loadSnapshot } from '../db/commit/snapshots.ts';
import type { Database } from '../db/database.ts';
import { waitUntilSettled } from '../db/wait-until-settled.ts';
import type { Registry } from '../model/declare/registry.ts';
import { NotFound } from '../model/errors.ts';
import type { Snapshot } from '../model/state/snapshot.ts';

/**
 * Cached snapshots of the accounts in use. A snapshot that is behind is updated with the missing changes, never loaded
 * again.
 */
export interface Snapshots {
  /** Returns a snapshot that contains at least this revision. */
  atLeast(account: string, revision: number): Promise<Snapshot>;
  /** Returns the cached snapshot, or loads one when none is cached. It may lack revisions that other servers wrote. */
  current(account: string): Promise<Snapshot>;
  /** Returns a snapshot that contains every revision acknowledged until now. */
  fresh(account: string): Promise<Snapshot>;
  /** Caches a committed snapshot, unless a newer one is cached. */
  advance(snapshot: Snapshot): void;
  /**
   * Announces that this server has sent the commit of a snapshot. The caller must call `advance` before `commit` resolves
   * if the commit was written. Until `commit` settles, callers who have seen the revision wait instead of reading it: the
   * database shows a commit to others before its answer has reached this server, and reading 50,000 changes takes
   * seconds. If another server wrote the revision, they read it afterwards.
   */
  expect(snapshot: Snapshot, commit: Promise<unknown>): void;
  /** Removes a deleted account from the cache. */
  drop(account: string): void;
  /** Empties the cache: the next call reads from the database. */
  clear(): void;
}

/** Maximum number of objects in all cached snapshots. An object takes about 2 kB with its index entries. */
const maxCachedObjects = 400_000;

/** Options of the cache. */
export interface SnapshotsOptions {
  /**
   * Maximum time for which callers wait for a commit that they have seen, in milliseconds: 1 s by default. The answer to
   * the commit may be lost with its connection.
   */
  readonly maxCommitWaitMs?: number;
}

/** Creates the cache. Evicts the least recently used account when it is full. */
export function createSnapshots(
  database: Database,
  registry: Registry,
  { maxCommitWaitMs = 1000 }: SnapshotsOptions = {},
): Snapshots {
  const known = new Map<string, Snapshot>();
  const running = new Map<string, Promise<Snapshot>>();
  const expected = new Map<string, { readonly revision: number; readonly end: Promise<void> }>();

  const advance = (snapshot: Snapshot): void => {
    const present = known.get(snapshot.account);
    if (present !== undefined && present.revision > snapshot.revision) return;
    known.delete(snapshot.account);
    known.set(snapshot.account, snapshot);
    evict(known);
  };

  const refresh = (account: string): Promise<Snapshot> => {
    const present = running.get(account);
    if (present !== undefined) return present;
    const work = read(database, registry, account, known.get(account)).then((snapshot) => {
      advance(snapshot);
      return snapshot;
    });
    running.set(account, work);
    work.catch((error: unknown) => {
      if (error instanceof NotFound) known.delete(account);
    });
    // All callers that wait for a failed read get its error; the next call tries again.
    return work.finally(() => running.delete(account));
  };

  const current = async (account: string): Promise<Snapshot> => known.get(account) ?? (await refresh(account));

  const at = async (account: string, revision: number): Promise<Snapshot> => {
    let snapshot = await current(account);
    const coming = expected.get(account);
    if (snapshot.revision < revision && coming !== undefined && revision <= coming.revision) {
      await waitUntilSettled(coming.end, maxCommitWaitMs);
      snapshot = await current(account);
    }
    // A refresh that was already running may have begun before this revision. The second refresh did not.
    for (let attempt = 0; snapshot.revision < revision && attempt < 2; attempt++) snapshot = await refresh(account);
    return snapshot;
  };

  return {
    atLeast: at,
    current,
    advance,
    expect({ account, revision }, commit) {
      const settled = (): void => {
        if (expected.get(account) === coming) expected.delete(account);
      };
      const coming = { revision, end: commit.then(settled, settled) };
      expected.set(account, coming);
    },
    drop: (account) => void known.delete(account),
    clear: () => known.clear(),
    async fresh(account) {
      const under = running.get(account);
      if (under !== undefined) await under;
      return refresh(account);
    },
  };
}

async function read(
  database: Database,
  registry: Registry,
  account: string,
  present: Snapshot | undefined,
): Promise<Snapshot> {
  const snapshot =
    present === undefined ? await loadSnapshot(database, registry, account) : await catchUp(database, present);
  if (snapshot === undefined) throw new NotFound(`account ${account} not found`);
  return snapshot;
}

function evict(known: Map<string, Snapshot>): void {
  let total = 0;
  for (const snapshot of known.values()) total += snapshot.size;
  for (const [account, snapshot] of known) {
    if (total <= maxCachedObjects || known.size === 1) return;
    known.delete(account);
    total -= snapshot.size;
  }
}
