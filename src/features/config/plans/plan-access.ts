import { describePair } from '../../../access/diff/describe-pair.ts';
import { diffAccessInSteps, type PairFilter } from '../../../access/diff/diff.ts';
import type { Call, Engine } from '../../../commit/engine.ts';
import { runInSlices } from '../../../commit/slices.ts';
import { mayChangeAccess, readAccessImages } from '../../../objects/access-tests.ts';
import { findEndpointAmong } from '../../../objects/find-endpoint.ts';
import type { AccessCount, PlanPair, PlanPairs } from '../../../operations/config/plan-access.ts';
import { accessName } from './review-access.ts';
import { replan } from './saved-plans.ts';

/** Filter of a plan's access pairs: by ends, or by objects that contain the ends, and their maximum number. */
export interface PairQuery {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly limit: number;
}

const noPairs: PlanPairs = {
  gained: { pairs: 0, conditional: 0 },
  lost: { pairs: 0, conditional: 0 },
  pairs: [],
  more: false,
};

/**
 * Returns the pairs that gain or lose access by a stored plan, computed on the current account. Throws `NotFound`, and
 * `Conflict` when the plan would do something else on the current account.
 */
export async function listPlanPairs(engine: Engine, call: Call, id: string, query: PairQuery): Promise<PlanPairs> {
  const { plan, before, after } = await replan(engine, call, id);
  if (!mayChangeAccess(plan, before, after)) return noPairs;
  const step = await readAccessImages(engine, before, after);
  const states = [after, before];
  const diff = await runInSlices(diffAccessInSteps(step.before, step.after));
  const found: PlanPair[] = [];
  const end = (text: string | undefined, member: 'from' | 'to'): PairFilter =>
    text === undefined ? {} : { [member]: findEndpointAmong(states, text) };
  for (const pair of diff.pairs({ ...end(query.from, 'from'), ...end(query.to, 'to') })) {
    if (found.length === query.limit) return { ...countsOf(diff), pairs: found, more: true };
    const { from, to, ...shift } = describePair(pair);
    found.push({ from: accessName(from, states), to: accessName(to, states), ...shift });
  }
  return { ...countsOf(diff), pairs: found, more: false };
}

function countsOf({ gained, lost }: { readonly gained: AccessCount; readonly lost: AccessCount }) {
  return { gained, lost };
}
