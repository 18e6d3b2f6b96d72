import type { RevisionInput } from '../db/commit/history.ts';
import type { KeptValues } from '../db/commit/kept-values.ts';
import type { AccountAccess } from '../db/database.ts';
import type { Lease } from '../db/leases/leases.ts';
import { Conflict } from '../model/errors.ts';
import type { Snapshot } from '../model/state/snapshot.ts';
import { driftEventsInSteps } from '../plan/ownership/drift-events.ts';
import { isEmptyPlan, type Plan } from '../plan/plan.ts';
import { auditEventsInSteps } from '../plan/view/audit.ts';
import type { Committed, CommitterOptions, Mutation } from './commit.ts';
import { objectOutputs } from './shown-once.ts';
import { inSlices } from './slices.ts';

/** A mutation and who waits for its end. */
export interface Waiting {
  readonly mutation: Mutation;
  /** When it came, by the clock of the process. */
  readonly since: number;
  readonly requestId: string;
  resolve(committed: Committed): void;
  reject(error: unknown): void;
}

/** Another server may have taken over the loop for which this was to be written, so nothing was written. */
export class LeaseLost extends Conflict {
  constructor({ name }: Lease) {
    super(
      'stale',
      `the lease ${name} is not held any more: it ran out, or another server has taken over; this one changed nothing`,
    );
  }
}

/** A batch of mutations planned on one snapshot, each on what its predecessor leaves. */
export interface Planned {
  readonly base: Snapshot;
  readonly tip: Snapshot;
  readonly revisions: readonly RevisionInput[];
  readonly results: readonly { readonly waiting: Waiting; readonly result: Committed | { readonly error: unknown } }[];
}

/** Plans each on what its predecessor leaves. `lost` are leases that are known to be lost. */
export async function planBatch(
  options: CommitterOptions,
  base: Snapshot,
  batch: readonly Waiting[],
  lost: ReadonlySet<string>,
): Promise<Planned> {
  let tip = base;
  const revisions: RevisionInput[] = [];
  const results: Planned['results'][number][] = [];
  const at = options.now();
  for (const waiting of batch) {
    const { mutation, requestId } = waiting;
    const { actor, commitRef, commitInfo, planId, approved, lease } = mutation;
    const isLost = lease !== undefined && lost.has(lease.name);
    const result = isLost ? { error: new LeaseLost(lease) } : await proposeOn(tip, mutation, options.database);
    results.push({ waiting, result });
    if ('error' in result || !result.ok || result.revision === undefined) continue;
    const { plan, before, after } = result;
    const events = [
      ...(await inSlices(auditEventsInSteps(plan, before, after))),
      ...(await inSlices(driftEventsInSteps(plan, before, after, at))),
    ];
    revisions.push({
      revision: result.revision,
      plan: result.plan,
      actor,
      requestId,
      commitRef,
      commitInfo,
      planId,
      approved,
      kept: mutation.keep?.(result),
      lease,
      once: valuesOf(mutation, result.plan),
      forgets: options.forgets,
      claims: mutation.claims?.(result.plan),
      statuses: mutation.observe?.() ?? [],
      at,
      events: [...events, ...(mutation.audit?.(result.plan) ?? [])],
    });
    tip = result.after;
  }
  return { base, tip, revisions, results };
}

/** What the answer to a request shows once, if it may have to be answered again. */
function valuesOf({ sealOnce }: Mutation, plan: Plan): KeptValues | undefined {
  return plan.outputs.size === 0 ? undefined : sealOnce?.({ outputs: objectOutputs(plan) });
}

async function proposeOn(
  tip: Snapshot,
  mutation: Mutation,
  database: AccountAccess,
): Promise<Committed | { readonly error: unknown }> {
  try {
    const outcome = await mutation.propose(tip, database);
    if (!outcome.ok) return { ok: false, problems: outcome.problems, state: tip };
    if (isEmptyPlan(outcome.plan)) return { ok: true, plan: outcome.plan, before: tip, after: tip };
    return { ok: true, plan: outcome.plan, revision: outcome.next.revision, before: tip, after: outcome.next };
  } catch (error) {
    return { error };
  }
}
