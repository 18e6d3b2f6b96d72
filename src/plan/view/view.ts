import { asObject, type Json } from '../../lib/json.ts';
import { mapInSteps, runToEnd } from '../../lib/steps.ts';
import { limitWarnings } from '../../model/problem.ts';
import { type Fields, isEmpty } from '../../model/schema/field.ts';
import { hideUnitSecrets } from '../../model/schema/secret-fields.ts';
import { parentField } from '../../model/state/facets.ts';
import { emptyContent } from '../../model/state/members.ts';
import type { StoredObject } from '../../model/state/object.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import { diffUnits, type UnitChange } from '../../model/state/units.ts';
import type { ChangeView, ClaimView, PlanView, UnitView } from '../../operations/config/plan.ts';
import { describeReferrers } from '../checks/referrers.ts';
import { type Change, type Claim, type Plan, subjectOf } from '../plan.ts';

/** An object of a plan, with keys and names instead of ids. */
export type ObjectView = Omit<ClaimView, 'action'>;

/** Returns a short note about a unit, if there is one. */
export function noteOf({ reset, setBy }: UnitView): string | undefined {
  if (reset === true) return 'back to its default';
  return setBy === undefined ? undefined : `was set by ${setBy.name} on ${setBy.at.slice(0, 10)}`;
}

/** Renders a plan with the names of the snapshots before and after it. */
export function viewPlan(plan: Plan, before: Snapshot, after: Snapshot): PlanView {
  return runToEnd(viewInSteps(plan, before, after));
}

/** Same as `viewPlan`, as a generator that yields now and then. */
export function* viewInSteps(plan: Plan, before: Snapshot, after: Snapshot): Generator<undefined, PlanView> {
  const label = labelerForPlan(plan, createLabeler(before, after));
  return {
    formatVersion: '1.0',
    ...(plan.source === undefined ? {} : { source: plan.source }),
    digest: plan.digest,
    baseRevision: plan.base,
    counts: plan.counts,
    changes: yield* mapInSteps(plan.changes, (change) => viewChange(change, { label, before, source: plan.source })),
    claims: yield* mapInSteps(plan.claims, (claim) => ({ action: claim.action, ...viewObject(claim, plan.source) })),
    guards: plan.guards,
    warnings: limitWarnings(plan.warnings),
    ...(plan.rollback === undefined ? {} : { rollback: plan.rollback }),
    ...(plan.access === undefined ? {} : { access: plan.access }),
  };
}

/**
 * A re-created object and the deleted object have the same name, so the label of the deleted object includes its id.
 */
function labelerForPlan({ changes }: Plan, label: Labeler): Labeler {
  const replaced = new Set(changes.flatMap(({ replaces }) => replaces?.id ?? []));
  return replaced.size === 0 ? label : (id) => (replaced.has(id) ? `${label(id)} (id ${id})` : label(id));
}

interface Viewing {
  readonly label: Labeler;
  readonly before: Snapshot;
  readonly source: string | undefined;
}

function viewChange(change: Change, { label, before, source }: Viewing): ChangeView {
  const resets = new Set(change.resets);
  return {
    action: change.action,
    ...viewObject(change, source),
    ...(change.replaces === undefined ? {} : { replaces: change.replaces.id }),
    ...formerKey(change, before),
    units: viewUnits(before.registry.get(subjectOf(change).kind).spec, unitsToShow(change, before), label, resets),
    ...usersOf(change, before),
    risks: change.risks,
  };
}

/**
 * Returns the non-empty units of a new object, and the former units of a deleted object, so that a reader can approve
 * both without further look-ups.
 */
function unitsToShow({ action, before, units }: Change, { registry }: Snapshot): readonly UnitChange[] {
  if (action === 'create') return units.filter((unit) => !isEmpty(unit.after));
  if (action === 'update' || before === undefined) return units;
  return diffUnits(registry.get(before.kind).spec, before, emptyContent).filter((unit) => !isEmpty(unit.before));
}

/** Returns the former key of a renamed object. Left out for children: their key only repeats their parent and units. */
function formerKey({ before: was, after }: Change, { registry }: Snapshot): Pick<ChangeView, 'renamedFrom'> {
  if (was?.key === undefined || after === undefined || was.key === after.key) return {};
  return registry.get(was.kind).parent === undefined ? { renamedFrom: was.key } : {};
}

/** Returns the objects that use a deleted object, without its children: these belong to it. */
function usersOf(change: Change, before: Snapshot): Pick<ChangeView, 'usedBy'> {
  if (change.action !== 'delete') return {};
  const referrers = before.referrersOf(subjectOf(change).id).filter(({ field }) => field !== parentField);
  return referrers.length === 0 ? {} : { usedBy: describeReferrers(before, referrers) };
}

/** Renders units with names instead of ids, and without secrets. */
export function viewUnits(
  fields: Fields,
  units: readonly UnitChange[],
  label: Labeler,
  resets: ReadonlySet<string> = new Set(),
): readonly UnitView[] {
  const shown = units.map((unit) => hideUnitSecrets(fields, unit));
  return shown.map((unit) => ({
    path: labelPath(unit.path, label),
    ...(unit.before === undefined ? {} : { before: labelValue(unit.before, label) }),
    ...(unit.after === undefined ? {} : { after: labelValue(unit.after, label) }),
    ...(resets.has(unit.path) ? { reset: true as const } : {}),
  }));
}

function viewObject(change: Change | Claim, source: string | undefined): ObjectView {
  const subject = subjectOf(change);
  const { kind, key, name, id } = subject;
  const isNew = change.action === 'create';
  // For an object that is not stated any more, this is the last position at which the source stated it.
  const position = change.position ?? subject.declared.find((declaration) => declaration.source === source);
  return {
    kind,
    ...(key === undefined ? {} : { key }),
    name,
    ...(isNew ? {} : { id }),
    ...(position === undefined ? {} : { file: position.file, line: position.line }),
  };
}

/** Returns the key or name of the object with an id; `undefined` for a text that is not an id. */
export type Labeler = (id: string) => string | undefined;

/**
 * Returns a function that gives the key or name of an object: the one after a step or, for deleted objects, the one
 * before it.
 */
export function createLabeler(before: Snapshot, after: Snapshot): Labeler {
  return (id) => {
    const object: StoredObject | undefined = after.get(id) ?? before.get(id);
    return labelOf(object);
  };
}

/** Returns the key of an object, else its name; `undefined` without either. */
export function labelOf(object: StoredObject | undefined): string | undefined {
  return object === undefined ? undefined : (object.key ?? (object.name === '' ? undefined : object.name));
}

/** Replaces the id in the brackets of a unit path by the name of the object. */
export function labelPath(path: string, label: Labeler): string {
  const bracket = path.endsWith(']') ? path.indexOf('[') : -1;
  const name = bracket < 0 ? undefined : label(path.slice(bracket + 1, -1));
  return name === undefined ? path : `${path.slice(0, bracket)}[${name}]`;
}

/** Replaces ids in a value by names. */
export function labelValue(value: Json, label: Labeler): Json {
  if (typeof value === 'string') return label(value) ?? value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => labelValue(item, label));
  return Object.fromEntries(
    Object.entries(asObject(value)).map(([name, item]) => [label(name) ?? name, labelValue(item, label)]),
  );
}
