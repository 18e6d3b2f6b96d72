import type { Engine } from '../commit/engine.ts';
import type { Lease } from '../db/leases/leases.ts';
import type { Actor } from '../model/declare/actor.ts';
import { NotAllowed } from '../model/errors.ts';
import type { Snapshot } from '../model/state/snapshot.ts';
import { isAllowed } from '../plan/checks/authorize.ts';
import { planExpiry } from '../plan/ownership/expiry.ts';
import { isEmptyPlan, type Plan } from '../plan/plan.ts';
import type { BreakGlass } from '../plan/requests/break-glass.ts';

/** Reason and duration of an override of what sources state. */
export interface OverrideRequest {
  readonly reason: string;
  readonly seconds: number;
}

/** Message for a caller who may neither begin nor end an override. */
export const overrideRefusal =
  'overriding what sources state needs the right to change the configuration (config.override); ask an admin of the account, or change the document';

/** Returns the override for a caller who may begin one. Throws `NotAllowed` for other callers. */
export function startBreakGlass(
  state: Snapshot,
  actor: Actor,
  now: string,
  { reason, seconds }: OverrideRequest,
): BreakGlass {
  if (actor.type !== 'user' || !isAllowed(state, actor, 'config', 'update')) throw new NotAllowed(overrideRefusal);
  const until = new Date(Date.parse(now) + seconds * 1000).toISOString();
  return { by: { id: actor.id, name: actor.name }, reason, since: now, until };
}

/** Actor of changes that the clock causes. */
const clockActor: Actor = { type: 'system', id: 'sys', name: 'system' };

/**
 * Ends the overrides of an account that have expired by the database's clock. Returns the committed plan, or
 * `undefined` when none was due. With `lease`, writes nothing unless the lease is held.
 */
export async function endOverrides(engine: Engine, account: string, lease?: Lease): Promise<Plan | undefined> {
  const { newId, planEnvironment } = engine;
  const state = await engine.snapshots.fresh(account);
  const now = await engine.databaseTime(engine.database, account);
  const due = planExpiry({ snapshot: state, now, newId, planEnvironment });
  if (due.ok && isEmptyPlan(due.plan)) return undefined;
  const committed = await engine.committer.mutate({
    ...{ account, actor: clockActor, revision: state.revision },
    ...(lease === undefined ? {} : { lease }),
    propose: (snapshot) => planExpiry({ snapshot, now, newId, planEnvironment }),
  });
  if (committed.ok) return committed.plan;
  throw new Error(`overrides cannot end: ${committed.problems.map(({ message }) => message).join('; ')}`);
}
