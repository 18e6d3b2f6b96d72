import { runAccountRounds } from '../../../commit/account-rounds.ts';
import { planEdits } from '../../../commit/edits.ts';
import type { Engine } from '../../../commit/engine.ts';
import type { Report } from '../../../commit/report-once.ts';
import type { Lease } from '../../../db/leases/leases.ts';
import type { Actor } from '../../../model/declare/actor.ts';
import { removedEntry } from '../../../model/declare/provided.ts';
import { HeddleError } from '../../../model/errors.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import { isOfKind, type Stored } from '../../../model/state/stored.ts';
import { type OtherUses, planWithInvites } from '../../../objects/invite-uses.ts';
import { contextOf } from '../../../objects/objects.ts';
import type { Outcome } from '../../../plan/plan.ts';
import { planEnd } from '../../../plan/requests/requests.ts';

const day = 24 * 60 * 60 * 1000;

/** For how long users are kept whom their identity provider does not have any more, and may bring back. */
export const keptMs = 30 * day;

/** The actor of what ends by time. */
const clock: Actor = { type: 'system', id: 'sys', name: 'system' };

/** How the loop runs that ends what providers do not have any more. */
export interface RemovalLoopOptions {
  readonly engine: Engine;
  readonly everyMs?: number;
  /** Called with refusals and errors. */
  readonly report: Report<'warn' | 'error'>;
}

const usualMs = 60_000;

/**
 * Deletes users whom their provider has not had for 30 days or deleted for good, and groups that it does not have as soon as nothing names them,
 * each account on one server at a time. Returns a function that stops it.
 */
export function runRemovals({ engine, everyMs = usualMs, report }: RemovalLoopOptions): () => Promise<void> {
  return runAccountRounds({
    ...{ database: engine.database, subject: 'users and groups of identity providers', lease: 'removals' },
    ...{ owner: engine.newId(), entries: [removedEntry], everyMs, report },
    async work(account, lease, reportOnce) {
      for (const { name, message } of await endRemoved(engine, account, lease))
        reportOnce('warn', `${name}: ${message}`);
    },
  });
}

/** Something that could not be deleted, and why. */
interface Refused {
  readonly name: string;
  readonly message: string;
}

/** How many of an account are deleted in one round. */
const mostAtOnce = 200;

/** Deletes what is due of an account. Returns what could not be. */
export async function endRemoved(engine: Engine, account: string, lease?: Lease): Promise<readonly Refused[]> {
  const state = await engine.snapshots.fresh(account);
  const due = dueIn(state, engine.now()).slice(0, mostAtOnce);
  const results = await Promise.all(due.map((object) => endOne(engine, state, object, lease)));
  return results.flatMap((refused) => refused ?? []);
}

type Removed = Stored<'User'> | Stored<'Group'>;

function dueIn(state: Snapshot, now: string): readonly Removed[] {
  return [...state.ofKind('User'), ...state.ofKind('Group')].filter((object) => isDue(object, state, now));
}

function isDue(object: Removed, state: Snapshot, now: string): boolean {
  const { removed_since: since, deleted_since: deleted } = object.derived.provided ?? {};
  if (since === undefined) return false;
  if (isOfKind(object, 'Group')) return state.referrersOf(object.id).length === 0;
  // What cannot come back is not kept.
  return deleted !== undefined || Date.parse(now) - Date.parse(since) >= keptMs;
}

async function endOne(
  engine: Engine,
  { account, revision }: Snapshot,
  { id, name, kind }: Removed,
  lease: Lease | undefined,
): Promise<Refused | undefined> {
  const call = { account, actor: clock, revision };
  const end = async (now: Snapshot, alsoUsedBy: OtherUses = new Map()): Promise<Outcome> => {
    const object = now.find('User', id) ?? now.find('Group', id);
    // The provider may have it again meanwhile.
    if (object === undefined || !isDue(object, now, engine.now())) return planEdits(engine, now, []);
    const context = { ...contextOf(engine, call, now, { strict: false }), alsoUsedBy };
    return planEnd(context, engine.registry.get(kind), object);
  };
  try {
    const committed = await engine.committer.mutate({
      ...call,
      ...(lease === undefined ? {} : { lease }),
      propose: (now, database) => planWithInvites(database, now, (invited) => end(now, invited)),
    });
    if (committed.ok) return undefined;
    return { name, message: committed.problems.map(({ message }) => message).join('; ') };
  } catch (error) {
    if (!(error instanceof HeddleError)) throw error;
    return { name, message: error.message };
  }
}
