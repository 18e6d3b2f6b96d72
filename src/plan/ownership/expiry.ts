import type { Actor } from '../../model/declare/actor.ts';
import type { PlanEnvironment } from '../../model/declare/plan-environment.ts';
import { joinMessages, type Problem } from '../../model/problem.ts';
import type { Fields } from '../../model/schema/field.ts';
import { completeSpec, equalContent } from '../../model/state/members.ts';
import type { Override, StoredObject } from '../../model/state/object.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import { applyUnits, type UnitChange, unitsOf } from '../../model/state/units.ts';
import { type Edit, finishPlan } from '../finish.ts';
import type { PlanOutcome } from '../plan.ts';
import { loosensRestriction } from './failsafe.ts';
import { exclusiveFields, fieldNameOf, isMember } from './membership.ts';
import { isLive, overridesMember } from './overrides.ts';
import { overriddenObjects } from './running-overrides.ts';
import { releasedUnit, statedValue } from './state-units.ts';

/** Input for ending overrides. */
export interface ExpiryInput {
  readonly snapshot: Snapshot;
  /** Current time, in ISO 8601. Overrides whose end is at or before it have expired. */
  readonly now: string;
  newId(): string;
  readonly planEnvironment?: PlanEnvironment;
  /** The user who ends the overrides early. Absent: they have expired. */
  readonly actor?: Actor;
  /** Selects the overrides to end. Absent: those that have expired. */
  isOver?(override: Override): boolean;
}

/** Ends overrides of one object early. Fails with the problems when a stated value cannot be restored. */
export function planEarlyEnd(
  input: ExpiryInput & Required<Pick<ExpiryInput, 'isOver'>>,
  object: StoredObject,
): PlanOutcome {
  return finishExpiry(input, [restoreEdit(input, object)], []);
}

function hasEnded(input: ExpiryInput, override: Override): boolean {
  return input.isOver?.(override) ?? !isLive(override, input.now);
}

/**
 * Ends the overrides that have expired: stated values apply again, and values that no source states return to their
 * default. A value that cannot be restored, because an object that it needs was deleted in the meantime, stays as it
 * is, with a warning.
 */
export function planExpiry(input: ExpiryInput): PlanOutcome {
  const due = overriddenObjects(input.snapshot).filter(({ overrides = [] }) =>
    overrides.some((override) => hasEnded(input, override)),
  );
  const all = finishExpiry(
    input,
    due.map((object) => restoreEdit(input, object)),
    [],
  );
  if (all.ok) return all;
  const alone = due.map((object) => ({ object, outcome: finishExpiry(input, [restoreEdit(input, object)], []) }));
  const warnings = alone.flatMap(({ object, outcome }) =>
    outcome.ok ? [] : [cannotRestoreWarning(object, outcome.problems)],
  );
  const edits = alone.map(({ object, outcome }) =>
    outcome.ok ? restoreEdit(input, object) : withoutEndedOverrides(input, object, []),
  );
  const some = finishExpiry(input, edits, warnings);
  if (some.ok) return some;
  return finishExpiry(
    input,
    due.map((object) => withoutEndedOverrides(input, object, [])),
    due.map((object) => cannotRestoreWarning(object, some.problems)),
  );
}

function finishExpiry(input: ExpiryInput, edits: readonly Edit[], warnings: readonly Problem[]): PlanOutcome {
  return finishPlan({
    ...input,
    ...{ edits, warnings },
    locate: (object, { code, path, message }) => ({
      ...{ code, kind: object.kind, key: object.key ?? object.name },
      ...{ path, message },
    }),
  });
}

function cannotRestoreWarning({ kind, key, name }: StoredObject, problems: readonly Problem[]): Problem {
  const why = joinMessages(problems);
  const message = `the override of ${kind} ${key ?? name} ends, but its value is kept, because the stated value cannot be applied: ${why}`;
  return { code: 'override_stays', kind, key: key ?? name, message };
}

function restoreEdit(input: ExpiryInput, object: StoredObject): Edit {
  const { spec: fields } = input.snapshot.registry.get(object.kind);
  const over = (object.overrides ?? []).filter((override) => hasEnded(input, override));
  return withoutEndedOverrides(
    input,
    object,
    over.flatMap((override) => unitAfterOverride(input.snapshot, fields, object, override) ?? []),
  );
}

/** Returns the edit that removes the ended overrides of an object and applies the given unit changes. */
function withoutEndedOverrides(
  input: ExpiryInput,
  object: StoredObject,
  changes: readonly UnitChange[],
): Edit & { readonly after: StoredObject } {
  const { snapshot, now } = input;
  const kind = snapshot.registry.get(object.kind);
  const content = applyUnits(kind.spec, object, changes);
  const { overrides = [], ...rest } = object;
  const after: StoredObject = {
    ...rest,
    name: String(content.spec[kind.nameField] ?? object.name),
    ...content,
    updatedAt: equalContent(content, object) ? object.updatedAt : now,
    ...overridesMember(overrides.filter((override) => !hasEnded(input, override))),
  };
  return { before: object, after };
}

/** Returns the change of a unit after its override has ended; `undefined` when its value stays. */
function unitAfterOverride(
  snapshot: Snapshot,
  fields: Fields,
  object: StoredObject,
  { path }: Override,
): UnitChange | undefined {
  const current = unitsOf(fields, completeSpec(object)).get(path);
  const stated = object.declared.map((declaration) => unitsOf(fields, declaration.stated).get(path));
  const value = stated.find((item) => item !== undefined);
  const change = value === undefined ? unstated() : { path, after: statedValue(fields, path, value, current) };
  const isLoose = loosensRestriction(snapshot.registry.get(object.kind), path, current, change?.after);
  return isLoose ? undefined : change;

  function unstated(): UnitChange | undefined {
    if (!isMember(fields, path)) return releasedUnit(fields, path, current);
    const isClosed = object.declared.some((item) => exclusiveFields(fields, item).includes(fieldNameOf(path)));
    return isClosed ? { path } : undefined;
  }
}
