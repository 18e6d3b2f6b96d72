import { planEdits } from '../../../commit/edits.ts';
import type { Engine } from '../../../commit/engine.ts';
import type { Lease } from '../../../db/leases/leases.ts';
import { HeddleError } from '../../../model/errors.ts';
import { joinMessages } from '../../../model/problem.ts';
import { derivedFromId } from '../../../model/state/object.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import type { Stored } from '../../../model/state/stored.ts';
import type { PlanOutcome } from '../../../plan/plan.ts';
import { actorOf, exposedUntil, exposeRefusalOf } from './exposure.ts';

/** An exposed service that is due to end. `failed` is the reason why it could not be ended. */
export interface EndedExposure {
  readonly id: string;
  readonly failed?: string;
}

/**
 * Ends the exposed services that their peers did not renew in time, by the clock of the database, or whose peers may
 * not expose services any more. The changes are made under the caller's lease.
 */
export async function endExposures(engine: Engine, account: string, lease: Lease): Promise<readonly EndedExposure[]> {
  const { now } = await engine.presence.read(account);
  const state = await engine.snapshots.fresh(account);
  const due = state.ofKind('ProxyService').filter((service) => isDue(state, service, now));
  return await Promise.all(due.map((service) => end(engine, state, service, now, lease)));
}

function isDue(state: Snapshot, service: Stored<'ProxyService'>, now: string): boolean {
  const until = exposedUntil(service);
  if (until === undefined) return false;
  const peer = state.find('Peer', derivedFromId(service) ?? '');
  return until <= now || (peer !== undefined && exposeRefusalOf(state, peer) !== undefined);
}

async function end(
  engine: Engine,
  state: Snapshot,
  service: Stored<'ProxyService'>,
  now: string,
  lease: Lease,
): Promise<EndedExposure> {
  const { id } = service;
  try {
    const committed = await engine.committer.mutate({
      account: state.account,
      actor: actorOf(state.get(derivedFromId(service) ?? '') ?? service),
      revision: state.revision,
      lease,
      propose: (present) => planEnd(engine, present, id, now),
    });
    if (committed.ok) return { id };
    return { id, failed: joinMessages(committed.problems) };
  } catch (error) {
    if (!(error instanceof HeddleError)) throw error;
    return { id, failed: error.message };
  }
}

function planEnd(engine: Engine, state: Snapshot, id: string, now: string): PlanOutcome {
  const service = state.find('ProxyService', id);
  // The service may have been renewed or withdrawn since it was found.
  if (service === undefined || !isDue(state, service, now)) return planEdits(engine, state, []);
  // The audit event takes the reason, expired or not, from the last state of the service.
  const expired = (exposedUntil(service) ?? '') <= now;
  const before = { ...service, derived: { ...service.derived, expired } };
  return planEdits(engine, state, [{ before, internal: true }]);
}
