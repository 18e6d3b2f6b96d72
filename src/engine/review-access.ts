import type { Access } from '../access/access.ts';
import type { AccessDiff } from '../access/diff.ts';
import { diffAccessInSteps } from '../access/diff.ts';
import type { Named } from '../access/named.ts';
import { trafficText } from '../access/traffic.ts';
import { kindOf, partOf } from '../access/vocabulary.ts';
import type { Actor } from '../model/actor.ts';
import type { Snapshot } from '../model/snapshot.ts';
import { type AccessImpact, type AccessName, accessGuards, withAccess } from '../plan/access.ts';
import type { Outcome, Plan } from '../plan/plan.ts';
import type { Engine } from './engine.ts';
import { ownAccessGuard } from './own-access.ts';
import { runInSlices } from './slices.ts';

/** The state that a plan was made on, who asks for it, and in which source's name. */
export interface Reviewed {
  readonly before: Snapshot;
  readonly source: string;
  readonly actor: Actor;
}

/** The account before and after a plan, as far as access goes; whatever peers told is left out, so that plans do not depend on it. */
export interface AccessStep {
  readonly before: Access;
  readonly after: Access;
}

/** Adds to a plan who gains and loses access by it, and the guards which that trips. Costs nothing when nothing can. */
export async function reviewAccess(engine: Engine, reviewed: Reviewed, outcome: Outcome): Promise<Outcome> {
  if (!outcome.ok || !touchesAccess(outcome.plan)) return outcome;
  const { before, source, actor } = reviewed;
  const step = accessStep(engine, before, outcome.next);
  if (step === undefined) return outcome;
  const diff = await runInSlices(diffAccessInSteps(step.before, step.after));
  const { limits } = before.settingsOf(source);
  const impact = impactOf(diff, [outcome.next, before]);
  const guards = [...accessGuards(impact, limits), ...ownAccessGuard(step, [before, outcome.next], limits, actor)];
  return { ...outcome, plan: withAccess(outcome.plan, impact, guards) };
}

/** The images before and after; `undefined` where nobody is who could reach anything. */
export function accessStep(engine: Engine, before: Snapshot, next: Snapshot): AccessStep | undefined {
  if (before.countOf(kindOf.peer) + next.countOf(kindOf.peer) === 0) return undefined;
  const image = engine.access.bare(before);
  return { before: image, after: engine.access.after(image, before, next) };
}

/** Whether a plan changes anything on which access depends. */
export function touchesAccess({ changes }: Plan): boolean {
  return changes.some(({ before, after }) => partOf(after ?? before) !== undefined);
}

/** How many rows of a summary a plan carries. */
const mostRows = 200;

function impactOf({ gained, lost, groups }: AccessDiff, states: readonly Snapshot[]): AccessImpact {
  const rows = groups.slice(0, mostRows).map(({ change, from, to, traffic, pairs, conditional }) => ({
    change,
    from: accessName(from, states),
    to: accessName(to, states),
    traffic: trafficText(traffic),
    pairs,
    conditional,
  }));
  return { gained, lost, groups: rows, omitted: groups.length - rows.length };
}

/** A name as plans tell it: ids of what a plan makes are not known yet. */
export function accessName({ type, id, name }: Named, states: readonly Snapshot[]): AccessName {
  const object = states.map((state) => state.get(id)).find((found) => found !== undefined);
  return { kind: kindOf[type], ...(object?.key === undefined ? {} : { key: object.key }), name };
}
