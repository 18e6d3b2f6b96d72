import { runAccountRounds } from '../../../commit/account-rounds.ts';
import { planEdits } from '../../../commit/edits.ts';
import type { Engine } from '../../../commit/engine.ts';
import type { Report } from '../../../commit/report-once.ts';
import type { Lease } from '../../../db/leases/leases.ts';
import type { Actor } from '../../../model/declare/actor.ts';
import { removedEntry } from '../../../model/declare/provided.ts';
import { HeddleError } from '../../../model/errors.ts';
import { joinMessages } from '../../../model/problem.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import { isOfKind, type Stored } from '../../../model/state/stored.ts';
import { type OtherUses, planWithInvites } from '../../../objects/invite-uses.ts';
import { contextOf } from '../../../objects/objects.ts';
import type { PlanOutcome } from '../../../plan/plan.ts';
import { planServerDelete } from '../../../plan/requests/requests.ts';

const day = 24 * 60 * 60 * 1000;

/**
 * Time for which a user is kept after the identity provider removed the user, in milliseconds. Until then the provider
 * may bring the user back.
 */
export const removedUserRetentionMs = 30 * day;

/** Actor of deletions that happen because a time has passed. */
const systemActor: Actor = { type: 'system', id: 'sys', name: 'system' };

/** Options of the loop that deletes users and groups that providers have removed. */
export interface RemovalLoopOptions {
  readonly engine: Engine;
  readonly everyMs?: number;
  /** Called with refusals and errors. */
  readonly report: Report<'warn' | 'error'>;
}

const defaultIntervalMs = 60_000;

/**
 * Starts the loop that deletes users whom their provider removed 30 days ago or deleted for good, and groups that their
 * provider removed, as soon as no object refers to them. Each account is processed by one server at a time. Returns a
 * function that stops the loop.
 */
export function runRemovals({ engine, everyMs = defaultIntervalMs, report }: RemovalLoopOptions): () => Promise<void> {
  return runAccountRounds({
    ...{ database: engine.database, subject: 'users and groups of identity providers', lease: 'removals' },
    ...{ owner: engine.newId(), entries: [removedEntry], everyMs, report },
    async work(account, lease, reportOnce) {
      for (const { name, message } of await deleteRemoved(engine, account, lease))
        reportOnce('warn', `${name}: ${message}`);
    },
  });
}

/** An object that could not be deleted, and the reason. */
interface FailedDeletion {
  readonly name: string;
  readonly message: string;
}

/** Maximum number of objects of one account that are deleted in one round. */
const maxDeletionsPerRound = 200;

/**
 * Deletes the removed users and groups of an account whose time is over. Returns the objects that could not be deleted.
 */
export async function deleteRemoved(
  engine: Engine,
  account: string,
  lease?: Lease,
): Promise<readonly FailedDeletion[]> {
  const state = await engine.snapshots.fresh(account);
  const due = dueIn(state, engine.now()).slice(0, maxDeletionsPerRound);
  const results = await Promise.all(due.map((object) => deleteOne(engine, state, object, lease)));
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
  // A user whom the provider deleted for good cannot come back, so the user is not kept.
  return deleted !== undefined || Date.parse(now) - Date.parse(since) >= removedUserRetentionMs;
}

async function deleteOne(
  engine: Engine,
  { account, revision }: Snapshot,
  { id, name, kind }: Removed,
  lease: Lease | undefined,
): Promise<FailedDeletion | undefined> {
  const call = { account, actor: systemActor, revision };
  const end = async (now: Snapshot, alsoUsedBy: OtherUses = new Map()): Promise<PlanOutcome> => {
    const object = now.find('User', id) ?? now.find('Group', id);
    // The provider may have brought the object back since the round began.
    if (object === undefined || !isDue(object, now, engine.now())) return planEdits(engine, now, []);
    const context = { ...contextOf(engine, call, now, { strict: false }), alsoUsedBy };
    return planServerDelete(context, engine.registry.get(kind), object);
  };
  try {
    const committed = await engine.committer.mutate({
      ...call,
      ...(lease === undefined ? {} : { lease }),
      propose: (now, database) => planWithInvites(database, now, (invited) => end(now, invited)),
    });
    if (committed.ok) return undefined;
    return { name, message: joinMessages(committed.problems) };
  } catch (error) {
    if (!(error instanceof HeddleError)) throw error;
    return { name, message: error.message };
  }
}
