import type { Call } from '../../../commit/engine.ts';
import type { Problem } from '../../../model/problem.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import { createKindNameReadCheck } from '../../../objects/object-list.ts';
import { createUsedByFilter, readableFindings } from '../../../objects/readable-problems.ts';
import type { PlanView } from '../../../operations/config/plan.ts';

/**
 * Returns a plan without its effects on objects of kinds that the caller may not read. Counts and digest still describe
 * the whole plan, and a warning states how many changes are hidden.
 */
export function readablePlan(state: Snapshot, call: Pick<Call, 'actor'>, view: PlanView): PlanView {
  const isReadable = createKindNameReadCheck(state, call);
  const changes = view.changes.filter(({ kind }) => isReadable(kind)).map(createUsedByFilter(state, call));
  const claims = view.claims.filter(({ kind }) => isReadable(kind));
  const guards = readableGuards(view.guards, isReadable);
  const warnings = readableFindings(state, call, view.warnings);
  const overrides = view.overrides?.filter(({ kind }) => isReadable(kind));
  const hidden = view.changes.length + view.claims.length - changes.length - claims.length;
  const message = `${hidden} changes of the plan are of kinds that you may not read; ask a person who may read them before you approve or apply it`;
  const note: readonly Problem[] = hidden === 0 ? [] : [{ code: 'changes_hidden', message }];
  const { overrides: _, ...rest } = view;
  const held = overrides === undefined || overrides.length === 0 ? {} : { overrides };
  return { ...rest, changes, claims, guards, warnings: [...warnings, ...note], ...held };
}

/**
 * Returns guards without those about kinds that the caller may not read. One guard of the same type replaces them,
 * because a plan without guards would seem to need no approval.
 */
function readableGuards(guards: PlanView['guards'], isReadable: (kind: string) => boolean): PlanView['guards'] {
  const isHidden = ({ kind }: PlanView['guards'][number]) => kind !== undefined && !isReadable(kind);
  const hidden = Map.groupBy(guards.filter(isHidden), ({ guard }) => guard);
  const notes = [...hidden].map(([guard, { length }]) => {
    const subject = length === 1 ? `1 ${guard} guard is` : `${length} ${guard} guards are`;
    const message = `${subject} about objects that you may not read; ask a person who may read them before you approve the plan`;
    return { guard, message };
  });
  return [...guards.filter((guard) => !isHidden(guard)), ...notes];
}
