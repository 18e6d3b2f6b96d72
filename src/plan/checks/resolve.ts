import type { JsonObject } from '../../lib/json.ts';
import { mapInSteps } from '../../lib/steps.ts';
import type { Fault, Kind } from '../../model/declare/kind.ts';
import type { Registry } from '../../model/declare/registry.ts';
import { maxProblems } from '../../model/problem.ts';
import type { ProblemCode } from '../../model/problem-codes.ts';
import { type Mention, mapReferences, mentionsOf } from '../../model/schema/references.ts';
import { aliasIndex } from '../../model/state/facets.ts';
import type { StoredObject } from '../../model/state/object.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import { unknownReferenceFault } from './rules.ts';

/** Objects that the reference texts of a document may name. */
export interface ReferenceTargets {
  readonly snapshot: Snapshot;
  /** Returns the id of the object that the same input states under a key; `undefined` when there is none. */
  desiredId(kind: string, key: string): string | undefined;
  /** Returns the keys that the input states, for hints. */
  desiredKeys(kind: string): Iterable<string>;
  /** Whether the text names a document with faults. Those faults are reported instead of the reference. */
  isBroken(kind: string, key: string): boolean;
  /** Whether a document states settings of an object that does not exist, and does not create it. */
  isOnlyStated(kind: string, key: string): boolean;
  /** Whether the text names a document that the filter of this run excludes. */
  isFilteredOut(kind: string, key: string): boolean;
  /** Returns the id and key of the new object that has the text as a former key; `undefined` when there is none. */
  findByFormerKey(kind: string, text: string): { readonly id: string; readonly key: string } | undefined;
  /**
   * Returns the key of an object whose display name this plan changes, by which references must name it; `undefined`
   * for other objects.
   */
  renamedTo(id: string): string | undefined;
  /** Whether this plan deletes the object. */
  isBeingDeleted(id: string): boolean;
  /** Returns why the source may not refer to the object; `undefined` when it may. */
  refusal(kind: string, id: string): string | undefined;
  /** Number of names that may still be compared with unknown reference texts. */
  readonly hints: HintBudget;
  /** Returns the label of an id for messages; also for new objects. */
  label(id: string): string | undefined;
}

/** Remaining work for hints in one plan. A hint for each of a hundred thousand mistyped names would help no user. */
export interface HintBudget {
  remaining: number;
}

/** A spec with ids instead of names, its faults, and its references to objects that do not exist yet. */
export interface Resolved {
  readonly spec: JsonObject;
  readonly faults: readonly Fault[];
  readonly pending: readonly Fault[];
  /** Faults of references by a former key of their object. */
  readonly former: readonly Fault[];
  /** Whether a required reference is pending, so that the whole object has to wait. */
  readonly waits: boolean;
}

/**
 * Resolves every reference of a spec. A reference to a kind that may be pending is left out while its object does not
 * exist. Yields regularly, because one document may contain tens of thousands of references.
 */
export function* resolveReferences(
  registry: Registry,
  kind: Kind,
  spec: JsonObject,
  names: ReferenceTargets,
): Generator<undefined, Resolved> {
  const mentions = mentionsOf(kind.spec, spec);
  const results = (yield* mapInSteps(mentions, (mention) => resolveName(names, mention.kind, mention.text))).values();
  const faults: Fault[] = [];
  const pending: Fault[] = [];
  const former: Fault[] = [];
  let waiting = false;
  // `mapReferences` visits the references in the order of `mentions`.
  const resolved = mapReferences(kind.spec, spec, (mention) => {
    const result = results.next().value ?? resolveName(names, mention.kind, mention.text);
    if ('id' in result) {
      const refusal = names.refusal(mention.kind, result.id);
      if (refusal !== undefined) addFault(faults, { code: 'scope_exceeded', path: mention.pointer, message: refusal });
      if (result.now !== undefined) addFault(former, formerFault(mention, result.now));
      return result.id;
    }
    if (result.code === 'broken') return mention.text;
    const fault: Fault = { code: result.code, path: mention.pointer, message: result.message };
    const waits = registry.find(mention.kind)?.pending === true && result.code === 'reference_unknown';
    addFault(waits ? pending : faults, fault);
    waiting ||= waits && mention.single;
    return waits ? undefined : mention.text;
  });
  return { spec: resolved, faults, pending, former, waits: waiting };
}

/** Adds a fault unless there are more than an answer lists. */
function addFault(faults: Fault[], fault: Fault): void {
  if (faults.length <= maxProblems) faults.push(fault);
}

function formerFault({ kind, text, pointer }: Mention, now: string): Fault {
  const message = `${kind} \`${text}\` is called \`${now}\` now; write that`;
  return { code: 'reference_renamed', path: pointer, message };
}

/** `now`: current name of an object that the text named by a former key. */
type Resolution =
  | { readonly id: string; readonly now?: string | undefined }
  | { readonly code: ProblemCode | 'broken'; readonly message: string };

/**
 * Resolves a reference text to one object: by a stated key, a stored key, a former key, then a display name. Returns
 * the fault when this fails.
 */
export function resolveName(names: ReferenceTargets, kind: string, text: string): Resolution {
  if (text.startsWith('id:')) return byId(names, kind, text.slice(3));
  if (text.startsWith('name:')) return byName(names, kind, text, names.snapshot.lookUp(kind, 'name', text.slice(5)));
  const stated = names.desiredId(kind, text);
  if (stated !== undefined) return { id: stated };
  if (names.isBroken(kind, text)) return { code: 'broken', message: '' };
  const stored = names.snapshot.findByKey(kind, text);
  if (stored !== undefined) return resolveUnlessDeleted(names, kind, text, stored);
  // A former key still means the same object, even when another object has this display name now.
  const former = names.snapshot.lookUp(kind, aliasIndex, text);
  const made = names.findByFormerKey(kind, text);
  if (made !== undefined && former.length === 0) return { id: made.id, now: made.key };
  if (former.length > 0) return byFormerKey(names, kind, text, former);
  const named = names.snapshot.lookUp(kind, 'name', text);
  return named.length === 0 && names.isFilteredOut(kind, text)
    ? filteredOutFault(kind, text)
    : byName(names, kind, text, named);
}

/**
 * Resolves a display name. A name that this plan changes is refused, because planning the same documents again would
 * not find it.
 */
function byName(names: ReferenceTargets, kind: string, text: string, objects: readonly StoredObject[]): Resolution {
  const found = exactlyOne(names, kind, text, objects);
  const key = 'id' in found ? names.renamedTo(found.id) : undefined;
  if (key === undefined) return found;
  const message = `this plan renames ${kind} \`${text}\`, because \`${key}\` states another name; refer to it as \`${key}\``;
  return { code: 'reference_renamed', message };
}

function byFormerKey(
  names: ReferenceTargets,
  kind: string,
  text: string,
  objects: readonly StoredObject[],
): Resolution {
  const found = exactlyOne(names, kind, text, objects);
  const [object] = objects;
  if (!('id' in found) || object === undefined) return found;
  // An object that no document states any more may have no key, and is named by its display name.
  const now = object.key ?? `name:${object.name}`;
  return now === `name:${text}` ? found : { ...found, now };
}

function filteredOutFault(kind: string, text: string): Resolution {
  const message = `${kind} \`${text}\` does not exist yet, and the filter excludes its document; apply that document first, or include it in the filter`;
  return { code: 'reference_left_out', message };
}

function byId(names: ReferenceTargets, kind: string, id: string): Resolution {
  const object = names.snapshot.get(id);
  if (object === undefined || object.kind !== kind)
    return { code: 'reference_unknown', message: `there is no ${kind} with the id \`${id}\`` };
  return resolveUnlessDeleted(names, kind, `id:${id}`, object);
}

function exactlyOne(names: ReferenceTargets, kind: string, text: string, found: readonly StoredObject[]): Resolution {
  const [only, ...others] = found;
  if (only === undefined)
    return names.isOnlyStated(kind, text)
      ? onlyStatedFault(kind, text)
      : unknownReferenceFault(text, kind, candidates(names, kind));
  if (others.length === 0) return resolveUnlessDeleted(names, kind, text, only);
  const ids = found.map((object) => `\`${object.key ?? `id:${object.id}`}\``).join(', ');
  return {
    code: 'reference_ambiguous',
    message: `${found.length} objects of kind ${kind} are called \`${text}\`; refer to one of ${ids}`,
  };
}

/**
 * Returns the fault for an object that documents state without creating it. The object is as unknown as without the
 * document.
 */
function onlyStatedFault(kind: string, text: string): Resolution {
  const message = `${kind} \`${text}\` does not exist yet, and the document that states it does not create it`;
  return { code: 'reference_unknown', message };
}

function resolveUnlessDeleted(names: ReferenceTargets, kind: string, text: string, object: StoredObject): Resolution {
  if (!names.isBeingDeleted(object.id)) return { id: object.id };
  return {
    code: 'reference_deleted',
    message: `${kind} \`${text}\` is deleted by this plan because its document is gone; remove the reference or restore the document`,
  };
}

/** Returns the names for a hint; empty when the budget for comparisons is used up. */
function candidates({ hints, desiredKeys, snapshot }: ReferenceTargets, kind: string): readonly string[] {
  if (hints.remaining <= 0) return [];
  const stored = snapshot.ofKind(kind).flatMap(({ key, name }) => (key === undefined ? [name] : [key, name]));
  const found = [...desiredKeys(kind), ...stored];
  hints.remaining -= found.length;
  return found;
}
