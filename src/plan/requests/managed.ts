import { equalJson, type Json } from '../../lib/json.ts';
import { shellWord } from '../../lib/shell-word.ts';
import { type Kind, statesOnly } from '../../model/declare/kind.ts';
import type { Problem } from '../../model/problem.ts';
import { mapReferences } from '../../model/schema/references.ts';
import { hideUnitSecrets } from '../../model/schema/secret-fields.ts';
import { type Content, completeSpec, contentOf } from '../../model/state/members.ts';
import type { Declaration, StoredObject } from '../../model/state/object.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import { diffUnits, type UnitChange, unitsOf } from '../../model/state/units.ts';
import { protectAnnotation } from '../documents/annotations.ts';
import { isRestrictive } from '../ownership/failsafe.ts';
import { exclusiveFields, fieldOf, sourceOrigin } from '../ownership/membership.ts';
import type { Change } from '../plan.ts';
import { type Label, labeler, labelPath, labelValue } from '../view/view.ts';

/** A unit that a request changes although sources state it. */
export interface HeldUnit {
  readonly path: string;
  /** The value that the request gives it; absent: the unit is to go. */
  readonly after?: Json;
  readonly by: Declaration;
  /** Whether the source wants such a change refused (`guard`), instead of undone or reported later. */
  readonly refused: boolean;
}

/**
 * The units of a request that sources state with another value. Equal values pass, so clients that replace whole
 * objects can still change units that no source states; a return to the stated value passes too, and so does a
 * restrictive value of a failsafe unit.
 */
export function heldUnits(state: Snapshot, kind: Kind, before: StoredObject, after: Content): readonly HeldUnit[] {
  if (before.declared.length === 0) return [];
  const changes = diffUnits(kind.spec, before, after);
  if (changes.length === 0) return [];
  const declared = before.declared.map((by) => ({
    ...{ by, units: unitsOf(kind.spec, by.stated) },
    closed: exclusiveFields(kind.spec, by),
  }));
  return changes.flatMap((change) => {
    if (isRestrictive(kind.spec, change.path, change.after)) return [];
    const owners = declared.filter((one) => holds(one, change)).map(({ by }) => by);
    const refusing = owners.find(({ source }) => state.settingsOf(source).conflictMode === 'guard');
    const by = refusing ?? owners[0];
    if (by === undefined) return [];
    const { path, after } = change;
    return [{ path, ...(after === undefined ? {} : { after }), by, refused: refusing !== undefined }];
  });
}

/** Whether a change contradicts what a source states: another value, or a member that may not be added. */
function holds(
  { units, closed }: { readonly units: ReadonlyMap<string, Json>; readonly closed: readonly string[] },
  { path, before, after }: UnitChange,
): boolean {
  if (units.has(path)) return !isStated(units.get(path), after);
  return before === undefined && closed.includes(fieldOf(path));
}

/** Membership that keeps the source's origin only gains or loses other origins. */
function isStated(stated: Json | undefined, after: Json | undefined): boolean {
  return equalJson(stated, after) || (Array.isArray(after) && after.includes(sourceOrigin));
}

/** The problems of units that sources forbid others to change. */
export function managedProblems(
  state: Snapshot,
  kind: Kind,
  before: StoredObject,
  held: readonly HeldUnit[],
): readonly Problem[] {
  return held
    .filter(({ refused }) => refused)
    .map((unit) => ({
      code: 'managed_field',
      kind: kind.name,
      key: before.key ?? before.name,
      path: `/${fieldOf(unit.path)}`,
      ...placeOf(unit.by),
      message: `${labelPath(unit.path, labeler(state, state))} is managed by ${described(unit.by)}; change it there, or set it aside for a while: \`${overrideCommand(state, kind, before, unit)}\`, or over HTTP the header X-Break-Glass: REASON`,
    }));
}

/** The command line that does to a unit what the request asked for. Values that are long, or secrets, are left to the reader. */
function overrideCommand(state: Snapshot, kind: Kind, before: StoredObject, { path, after }: HeldUnit): string {
  const label = labeler(state, state);
  const unit = { path, ...(after === undefined ? {} : { after }) };
  const value = hideUnitSecrets(kind.spec, unit) === unit ? commandValue(kind, path, after, label) : 'VALUE';
  const field = shellWord(`${labelPath(path, label)}=${value}`);
  return `heddle override ${kind.name} ${shellWord(before.key ?? `id:${before.id}`)} ${field} --reason REASON`;
}

/** An element of a set is there or not. */
function commandValue({ spec }: Kind, path: string, after: Json | undefined, label: Label): string {
  const isInSet = ['refs', 'members', 'list'].includes(spec[fieldOf(path)]?.type ?? '') && path.endsWith(']');
  if (isInSet) return String(after !== undefined);
  const shown = after === undefined ? '' : labelValue(after, label);
  return typeof shown === 'object' || String(shown).length > 60 ? 'VALUE' : String(shown);
}

/** What may happen to an object that a source states, and why. */
export interface Leaving {
  /** The object itself is deleted, or it goes along with another one. */
  readonly goes: 'itself' | 'along';
  /** The caller asked to override what sources state. */
  readonly breakGlass: boolean;
}

/**
 * An object that a source states is deleted by deleting its document, unless documents neither make nor end such objects,
 * or all that state it would rather re-create it (`correct`).
 */
export function ownedProblems(state: Snapshot, object: StoredObject, leaving: Leaving): readonly Problem[] {
  const by = object.declared.find(({ source }) => state.settingsOf(source).conflictMode !== 'correct');
  if (object.protected) return [protectedProblem(object, object.declared[0])];
  if (by === undefined || statesOnly(state.registry.get(object.kind))) return [];
  const name = `${object.kind} ${object.key ?? object.name}`;
  const remedy =
    leaving.goes === 'itself'
      ? `${name} is managed by ${described(by)}; delete it there`
      : `${name} would go too, and is managed by ${described(by)}; delete it there first`;
  const message = leaving.breakGlass ? `${remedy}: breaking the glass sets values aside, it deletes nothing` : remedy;
  return [{ code: 'managed_field', kind: object.kind, key: object.key ?? object.name, ...placeOf(by), message }];
}

/** Protection stays with the object until a document that states it says otherwise, even if its owner deletes it. */
function protectedProblem({ id, kind, key, name }: StoredObject, by: Declaration | undefined): Problem {
  const remedy =
    by === undefined
      ? `no document states it any more, so apply one without the annotation first (\`heddle import ${kind} id:${id}\` prints it)`
      : `remove the annotation at ${described(by)} and apply that first`;
  const message = `${kind} ${key ?? name} is protected by ${protectAnnotation}; ${remedy}`;
  return { code: 'object_protected', kind, key: key ?? name, ...(by === undefined ? {} : placeOf(by)), message };
}

/** What follows from a request leaves alone what sources state, like the request itself. */
export function derivedChangeProblems(
  changes: readonly Change[],
  next: Snapshot,
  breakGlass: boolean,
): readonly Problem[] {
  return changes.flatMap(({ internal, before, after }) => {
    if (internal !== true || before === undefined) return [];
    const kind = next.registry.get(before.kind);
    if (after === undefined) return ownedProblems(next, before, { goes: 'along', breakGlass });
    if (breakGlass) return [];
    if (before.declared.length === 0) return [];
    const present = { ...before, ...withoutPending(kind, before, next) };
    return managedProblems(next, kind, before, heldUnits(next, kind, present, after));
  });
}

/** What an object says without references that merely wait again: to what is gone and documents may name all the same. */
function withoutPending(kind: Kind, object: StoredObject, next: Snapshot): Content {
  const complete = mapReferences(kind.spec, completeSpec(object), ({ kind: target, text }) =>
    next.get(text) === undefined && next.registry.get(target).pending === true ? undefined : text,
  );
  return contentOf(kind.spec, complete, object);
}

function described({ source, file, line }: Declaration): string {
  return `the source ${source} (${file}:${line})`;
}

function placeOf({ source, file, line }: Declaration): Pick<Problem, 'source' | 'file' | 'line'> {
  return { source, file, line };
}
