import { type AccessDiff, diffAccessInSteps } from '../../../access/diff/diff.ts';
import type { NamedObject } from '../../../access/evaluate/named.ts';
import { missingTrafficText, trafficText } from '../../../access/evaluate/traffic.ts';
import { kindOf } from '../../../access/ruleset/object-readers.ts';
import type { Engine } from '../../../commit/engine.ts';
import { runInSlices } from '../../../commit/slices.ts';
import type { Actor } from '../../../model/declare/actor.ts';
import type { State } from '../../../model/declare/kind.ts';
import { sortProblems } from '../../../model/problem.ts';
import type { GuardLimits } from '../../../model/sources/settings.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import {
  type AccessImages,
  checkPlanTests,
  mayChangeAccess,
  mayChangeTestResults,
  readAccessImages,
} from '../../../objects/access-tests.ts';
import type { AccessImpact, AccessName } from '../../../operations/config/plan-access.ts';
import type { Plan, PlanOutcome } from '../../../plan/plan.ts';
import { accessGuards, firstRows, withAccess } from '../../../plan/view/access.ts';
import { applyMoves } from './moved-documents.ts';
import { type Applier, ownAccessGuard } from './own-access.ts';

/**
 * Input of an access review: the state on which the plan was made, its source, and the actors who request it or made it
 * before.
 */
export interface ReviewInput {
  readonly before: Snapshot;
  readonly source: string;
  readonly actors: readonly Actor[];
}

/**
 * Adds to a plan who gains and loses access by it, and the guards that this trips. Refuses a plan that breaks an access
 * test. Costs nothing when the plan changes nothing on which access depends.
 */
export async function reviewAccess(engine: Engine, reviewed: ReviewInput, outcome: PlanOutcome): Promise<PlanOutcome> {
  if (!outcome.ok) return outcome;
  const { before } = reviewed;
  const { plan, next } = outcome;
  const [isTested, isTouched] = [mayChangeTestResults(plan, next), mayChangeAccess(plan, before, next)];
  if (!isTested && !isTouched) return outcome;
  const step = await readAccessImages(engine, before, applyMoves(next, plan, reviewed.source));
  const { problems, warnings } = isTested
    ? await checkPlanTests(step, plan, reviewed.source)
    : { problems: [], warnings: [] };
  if (problems.length > 0) return { ok: false, problems: sortProblems(problems) };
  const warned = warnings.length === 0 ? plan : { ...plan, warnings: sortProblems([...plan.warnings, ...warnings]) };
  const applier = { actors: reviewed.actors, host: engine.planEnvironment.host, port: engine.planEnvironment.port };
  return { ...outcome, plan: isTouched ? await withImpact(warned, step, { ...reviewed, applier }, next) : warned };
}

async function withImpact(
  plan: Plan,
  step: AccessImages,
  { before, source, applier }: Omit<ReviewInput, 'actors'> & { readonly applier: Applier },
  next: Snapshot,
): Promise<Plan> {
  const diff = await runInSlices(diffAccessInSteps(step.before, step.after));
  const limits = limitsOf(plan, before, source);
  const whole = impactOf(diff, [next, before]);
  const guards = [
    ...accessGuards(whole, strictest(limits)),
    ...[...new Set(limits.map(({ lostOwnAccess }) => lostOwnAccess))].flatMap((lostOwnAccess) =>
      ownAccessGuard(step, [before, next], lostOwnAccess === undefined ? {} : { lostOwnAccess }, applier),
    ),
  ];
  const groups = firstRows(whole.groups, maxRows);
  const impact = { ...whole, groups, omitted: whole.groups.length - groups.length };
  return withAccess(plan, impact, guards);
}

/**
 * Returns the limits that bind a plan: the limits of its source, or, for a rollback, the limits of every source that it
 * puts back.
 */
function limitsOf({ rollback }: Plan, state: Snapshot, source: string): readonly GuardLimits[] {
  const sources = rollback === undefined || rollback.suspends.length === 0 ? [source] : rollback.suspends;
  return sources.map((name) => state.settingsOf(name).limits);
}

/** Returns the lowest of these limits. */
function strictest(limits: readonly GuardLimits[]): Pick<GuardLimits, 'maxAccessLost' | 'maxAccessGained'> {
  const least = (name: 'maxAccessLost' | 'maxAccessGained') => {
    const given = limits.flatMap((one) => one[name] ?? []);
    return given.length === 0 ? {} : { [name]: Math.min(...given) };
  };
  return { ...least('maxAccessLost'), ...least('maxAccessGained') };
}

/** Maximum number of access summary rows in a plan. */
const maxRows = 200;

function impactOf({ gained, lost, groups }: AccessDiff, states: readonly Snapshot[]): AccessImpact {
  const rows = groups.map(({ change, from, to, traffic, pairs, conditional, partly }) => ({
    change,
    from: accessName(from, states),
    to: accessName(to, states),
    traffic: change === 'lost' ? missingTrafficText(traffic) : trafficText(traffic),
    pairs,
    conditional,
    ...(partly ? { partly } : {}),
  }));
  return { gained, lost, groups: rows, omitted: 0 };
}

/** Returns a name as plans show it, without its id: ids of new objects are not known yet. */
export function accessName({ type, id, name }: NamedObject, states: readonly State[]): AccessName {
  const object = states.map((state) => state.get(id)).find((found) => found !== undefined);
  return { kind: kindOf[type], ...(object?.key === undefined ? {} : { key: object.key }), name };
}
