import { equalJson, type Json } from '../../lib/json.ts';
import { quoteShellWord } from '../../lib/shell-word.ts';
import { canOnlyStateExisting, type Kind } from '../../model/declare/kind.ts';
import type { Problem } from '../../model/problem.ts';
import { mapReferences } from '../../model/schema/references.ts';
import { hideUnitSecrets } from '../../model/schema/secret-fields.ts';
import { type Content, completeSpec, contentFromSpec } from '../../model/state/members.ts';
import type { Declaration, StoredObject } from '../../model/state/object.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import { diffUnits, type UnitChange, unitsOf } from '../../model/state/units.ts';
import { protectAnnotation } from '../documents/annotations.ts';
import { isRestrictive } from '../ownership/failsafe.ts';
import { exclusiveFields, fieldNameOf, sourceOrigin } from '../ownership/membership.ts';
import type { Change } from '../plan.ts';
import { createLabeler, type Labeler, labelPath, labelValue } from '../view/view.ts';

/** A unit that a request changes although a source states it. */
export interface ManagedUnitChange {
  readonly path: string;
  /** Value that the request gives the unit. Absent: the request removes the unit. */
  readonly after?: Json;
  readonly by: Declaration;
  /** Whether the source refuses such a change (`guard`) instead of undoing or reporting it later. */
  readonly refused: boolean;
}

/**
 * Returns the units that a request changes although sources state them with another value. Units whose value stays
 * equal pass, so that clients that replace whole objects can still change units that no source states. A return to the
 * stated value passes too, and so does the restrictive value of a failsafe unit.
 */
export function managedUnitChanges(
  state: Snapshot,
  kind: Kind,
  before: StoredObject,
  after: Content,
): readonly ManagedUnitChange[] {
  if (before.declared.length === 0) return [];
  const changes = diffUnits(kind.spec, before, after);
  if (changes.length === 0) return [];
  const declared = before.declared.map((by) => ({
    ...{ by, units: unitsOf(kind.spec, by.stated) },
    closed: exclusiveFields(kind.spec, by),
  }));
  return changes.flatMap((change) => {
    if (isRestrictive(kind.spec, change.path, change.after)) return [];
    const owners = declared.filter((one) => contradicts(one, change)).map(({ by }) => by);
    const refusing = owners.find(({ source }) => state.settingsOf(source).conflictMode === 'guard');
    const by = refusing ?? owners[0];
    if (by === undefined) return [];
    const { path, after } = change;
    return [{ path, ...(after === undefined ? {} : { after }), by, refused: refusing !== undefined }];
  });
}

/**
 * Whether a change contradicts a source: it sets a value other than the stated one, or adds a member to an exclusive
 * membership.
 */
function contradicts(
  { units, closed }: { readonly units: ReadonlyMap<string, Json>; readonly closed: readonly string[] },
  { path, before, after }: UnitChange,
): boolean {
  if (units.has(path)) return !agreesWithStated(units.get(path), after);
  return before === undefined && closed.includes(fieldNameOf(path));
}

/**
 * Whether the new value agrees with the stated value. A member that keeps the source's origin only gains or loses other
 * origins.
 */
function agreesWithStated(stated: Json | undefined, after: Json | undefined): boolean {
  return equalJson(stated, after) || (Array.isArray(after) && after.includes(sourceOrigin));
}

/** Returns the problems of changed units whose source refuses changes by requests. */
export function managedProblems(
  state: Snapshot,
  kind: Kind,
  before: StoredObject,
  held: readonly ManagedUnitChange[],
): readonly Problem[] {
  return held
    .filter(({ refused }) => refused)
    .map((unit) => ({
      code: 'managed_field',
      kind: kind.name,
      key: before.key ?? before.name,
      path: `/${fieldNameOf(unit.path)}`,
      ...problemFieldsOf(unit.by),
      message: `${labelPath(unit.path, createLabeler(state, state))} is managed by ${describeDeclaration(unit.by)}; change it there, or override it for a while: \`${overrideCommand(state, kind, before, unit)}\`, or over HTTP the header X-Break-Glass: REASON`,
    }));
}

/**
 * Returns the command line that makes the requested change of a unit as an override. Long values and secrets are shown
 * as `VALUE`.
 */
function overrideCommand(
  state: Snapshot,
  kind: Kind,
  before: StoredObject,
  { path, after }: ManagedUnitChange,
): string {
  const label = createLabeler(state, state);
  const unit = { path, ...(after === undefined ? {} : { after }) };
  const value = hideUnitSecrets(kind.spec, unit) === unit ? commandValue(kind, path, after, label) : 'VALUE';
  const field = quoteShellWord(`${labelPath(path, label)}=${value}`);
  return `heddle override ${kind.name} ${quoteShellWord(before.key ?? `id:${before.id}`)} ${field} --reason REASON`;
}

/** The value is `true` or `false` for an element of a set: the element is added or removed. */
function commandValue({ spec }: Kind, path: string, after: Json | undefined, label: Labeler): string {
  const isInSet = ['refs', 'members', 'list'].includes(spec[fieldNameOf(path)]?.type ?? '') && path.endsWith(']');
  if (isInSet) return String(after !== undefined);
  const shown = after === undefined ? '' : labelValue(after, label);
  return typeof shown === 'object' || String(shown).length > 60 ? 'VALUE' : String(shown);
}

/** Why an object that a source states would be deleted. */
export interface DeletionContext {
  /** `itself`: the request deletes the object. `along`: it is deleted together with another object. */
  readonly mode: 'itself' | 'along';
  /** Whether the caller asked to override stated values. */
  readonly breakGlass: boolean;
}

/**
 * Returns the problems of deleting an object that a source states: it must be deleted by deleting its document. There
 * are none when documents neither create nor delete such objects, or when every source that states it would rather
 * re-create it (`correct`). A protected object is always refused.
 */
export function ownedProblems(state: Snapshot, object: StoredObject, leaving: DeletionContext): readonly Problem[] {
  const by = object.declared.find(({ source }) => state.settingsOf(source).conflictMode !== 'correct');
  if (object.protected) return [protectedProblem(object, object.declared[0])];
  if (by === undefined || canOnlyStateExisting(state.registry.get(object.kind))) return [];
  const name = `${object.kind} ${object.key ?? object.name}`;
  const remedy =
    leaving.mode === 'itself'
      ? `${name} is managed by ${describeDeclaration(by)}; delete it there`
      : `${name} would be deleted too, and is managed by ${describeDeclaration(by)}; delete it there first`;
  const message = leaving.breakGlass ? `${remedy}: an override changes values, it does not delete objects` : remedy;
  return [
    { code: 'managed_field', kind: object.kind, key: object.key ?? object.name, ...problemFieldsOf(by), message },
  ];
}

/**
 * Protection lasts until a document that states the object removes it. Not even the owner can delete the object before.
 */
function protectedProblem({ id, kind, key, name }: StoredObject, by: Declaration | undefined): Problem {
  const remedy =
    by === undefined
      ? `no document states it any more, so apply one without the annotation first (\`heddle import ${kind} id:${id}\` prints it)`
      : `remove the annotation at ${describeDeclaration(by)} and apply that first`;
  const message = `${kind} ${key ?? name} is protected by ${protectAnnotation}; ${remedy}`;
  return {
    code: 'object_protected',
    kind,
    key: key ?? name,
    ...(by === undefined ? {} : problemFieldsOf(by)),
    message,
  };
}

/**
 * Returns the problems of derived changes that change or delete what sources state. They are refused like the request
 * itself.
 */
export function derivedChangeProblems(
  changes: readonly Change[],
  next: Snapshot,
  breakGlass: boolean,
): readonly Problem[] {
  return changes.flatMap(({ internal, before, after }) => {
    if (internal !== true || before === undefined) return [];
    const kind = next.registry.get(before.kind);
    if (after === undefined) return ownedProblems(next, before, { mode: 'along', breakGlass });
    if (breakGlass) return [];
    if (before.declared.length === 0) return [];
    const present = { ...before, ...withoutPending(kind, before, next) };
    return managedProblems(next, kind, before, managedUnitChanges(next, kind, present, after));
  });
}

/**
 * Returns the content of an object without references to deleted objects of kinds whose references may be pending:
 * these references only wait again.
 */
function withoutPending(kind: Kind, object: StoredObject, next: Snapshot): Content {
  const complete = mapReferences(kind.spec, completeSpec(object), ({ kind: target, text }) =>
    next.get(text) === undefined && next.registry.get(target).pending === true ? undefined : text,
  );
  return contentFromSpec(kind.spec, complete, object);
}

function describeDeclaration({ source, file, line }: Declaration): string {
  return `the source ${source} (${file}:${line})`;
}

function problemFieldsOf({ source, file, line }: Declaration): Pick<Problem, 'source' | 'file' | 'line'> {
  return { source, file, line };
}
