import type { JsonObject } from '../../lib/json.ts';
import { mapInSteps } from '../../lib/steps.ts';
import type { Fault, Kind } from '../../model/declare/kind.ts';
import type { Registry } from '../../model/declare/registry.ts';
import type { ProblemCode } from '../../model/problem-codes.ts';
import { type Mention, mapReferences, mentionsOf } from '../../model/schema/references.ts';
import { aliasIndex } from '../../model/state/facets.ts';
import type { StoredObject } from '../../model/state/object.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import { unknownReference } from './rules.ts';

/** What the texts of a document's references may mean. */
export interface Names {
  readonly snapshot: Snapshot;
  /** The id of an object that the same input states, if it does. */
  desired(kind: string, key: string): string | undefined;
  /** Keys that the input states, for hints. */
  desiredKeys(kind: string): Iterable<string>;
  /** Whether the text names a document that is broken: its own problems are reported, not this reference. */
  isBroken(kind: string, key: string): boolean;
  /** Whether a document states settings of an object of this key that is not there, and does not make it. */
  isOnlyStated(kind: string, key: string): boolean;
  /** Whether the text names a document that the filter of this run leaves out. */
  isLeftOut(kind: string, key: string): boolean;
  /** The new object of whose former keys the text is one, with its key. */
  former(kind: string, text: string): { readonly id: string; readonly key: string } | undefined;
  /** What the object is to be called by, if this very plan gives it another display name: its key. */
  renamedTo(id: string): string | undefined;
  /** Whether this very plan deletes the object. */
  isLeaving(id: string): boolean;
  /** Why the source may not refer to the object, if it may not. */
  refusal(kind: string, id: string): string | undefined;
  /** How many names may still be compared with texts that name nothing. */
  readonly hints: HintBudget;
  /** How people know an id, new ones included. */
  label(id: string): string | undefined;
}

/** The remaining work for hints in one plan: a hint for each of a hundred thousand mistyped names helps nobody. */
export interface HintBudget {
  left: number;
}

/** A spec with ids for names, the faults, and the references that wait for their object. */
export interface Resolved {
  readonly spec: JsonObject;
  readonly faults: readonly Fault[];
  readonly pending: readonly Fault[];
  /** References by a key that the object had before. */
  readonly former: readonly Fault[];
  /** A reference that the object cannot do without is pending: the object has to wait too. */
  readonly waits: boolean;
}

/**
 * Resolves every reference of a spec. A reference to a kind that may be pending is left out when its object is not there.
 * Yields now and then: one document may name tens of thousands.
 */
export function* resolveReferences(
  registry: Registry,
  kind: Kind,
  spec: JsonObject,
  names: Names,
): Generator<undefined, Resolved> {
  const mentions = mentionsOf(kind.spec, spec);
  const results = (yield* mapInSteps(mentions, (mention) => resolveName(names, mention.kind, mention.text))).values();
  const faults: Fault[] = [];
  const pending: Fault[] = [];
  const former: Fault[] = [];
  let waiting = false;
  // In the order of the mentions.
  const resolved = mapReferences(kind.spec, spec, (mention) => {
    const result = results.next().value ?? resolveName(names, mention.kind, mention.text);
    if ('id' in result) {
      const refusal = names.refusal(mention.kind, result.id);
      if (refusal !== undefined) faults.push({ code: 'scope_exceeded', path: mention.pointer, message: refusal });
      if (result.now !== undefined) former.push(formerFault(mention, result.now));
      return result.id;
    }
    if (result.code === 'broken') return mention.text;
    const fault: Fault = { code: result.code, path: mention.pointer, message: result.message };
    const waits = registry.find(mention.kind)?.pending === true && result.code === 'reference_unknown';
    (waits ? pending : faults).push(fault);
    waiting ||= waits && mention.single;
    return waits ? undefined : mention.text;
  });
  return { spec: resolved, faults, pending, former, waits: waiting };
}

function formerFault({ kind, text, pointer }: Mention, now: string): Fault {
  const message = `${kind} \`${text}\` is called \`${now}\` now; write that`;
  return { code: 'reference_renamed', path: pointer, message };
}

/** `now` is what to call an object that was named by a former key. */
type Found =
  | { readonly id: string; readonly now?: string | undefined }
  | { readonly code: ProblemCode | 'broken'; readonly message: string };

/** Finds the one object that a reference text names: a stated key, a stored key, then a display name; or what is wrong. */
export function resolveName(names: Names, kind: string, text: string): Found {
  if (text.startsWith('id:')) return byId(names, kind, text.slice(3));
  if (text.startsWith('name:')) return byName(names, kind, text, names.snapshot.lookUp(kind, 'name', text.slice(5)));
  const stated = names.desired(kind, text);
  if (stated !== undefined) return { id: stated };
  if (names.isBroken(kind, text)) return { code: 'broken', message: '' };
  const stored = names.snapshot.findByKey(kind, text);
  if (stored !== undefined) return staying(names, kind, text, stored);
  // A key that was given up means the same object still, whatever others are called by now.
  const former = names.snapshot.lookUp(kind, aliasIndex, text);
  const made = names.former(kind, text);
  if (made !== undefined && former.length === 0) return { id: made.id, now: made.key };
  if (former.length > 0) return byFormerKey(names, kind, text, former);
  const named = names.snapshot.lookUp(kind, 'name', text);
  return named.length === 0 && names.isLeftOut(kind, text) ? leftOut(kind, text) : byName(names, kind, text, named);
}

/** A name that ends with this plan would name nothing when the same documents are planned again. */
function byName(names: Names, kind: string, text: string, objects: readonly StoredObject[]): Found {
  const found = exactlyOne(names, kind, text, objects);
  const key = 'id' in found ? names.renamedTo(found.id) : undefined;
  if (key === undefined) return found;
  const message = `${kind} \`${text}\` gets another name by this plan, because \`${key}\` states one; refer to it as \`${key}\``;
  return { code: 'reference_renamed', message };
}

function byFormerKey(names: Names, kind: string, text: string, objects: readonly StoredObject[]): Found {
  const found = exactlyOne(names, kind, text, objects);
  const [object] = objects;
  if (!('id' in found) || object === undefined) return found;
  // What no document states any more is known by its name.
  const now = object.key ?? `name:${object.name}`;
  return now === `name:${text}` ? found : { ...found, now };
}

function leftOut(kind: string, text: string): Found {
  const message = `${kind} \`${text}\` is not there yet, and the filter leaves its document out; apply that first, or let the filter include it`;
  return { code: 'reference_left_out', message };
}

function byId(names: Names, kind: string, id: string): Found {
  const object = names.snapshot.get(id);
  if (object === undefined || object.kind !== kind)
    return { code: 'reference_unknown', message: `there is no ${kind} with the id \`${id}\`` };
  return staying(names, kind, `id:${id}`, object);
}

function exactlyOne(names: Names, kind: string, text: string, found: readonly StoredObject[]): Found {
  const [only, ...others] = found;
  if (only === undefined)
    return names.isOnlyStated(kind, text)
      ? onlyStated(kind, text)
      : unknownReference(text, kind, candidates(names, kind));
  if (others.length === 0) return staying(names, kind, text, only);
  const ids = found.map((object) => `\`${object.key ?? `id:${object.id}`}\``).join(', ');
  return {
    code: 'reference_ambiguous',
    message: `${found.length} objects of kind ${kind} are called \`${text}\`; name one of ${ids}`,
  };
}

/** Documents state it without making it, so that it is as unknown as if they did not. */
function onlyStated(kind: string, text: string): Found {
  const message = `${kind} \`${text}\` is stated by a document, which does not make it, and is not there yet`;
  return { code: 'reference_unknown', message };
}

function staying(names: Names, kind: string, text: string, object: StoredObject): Found {
  if (!names.isLeaving(object.id)) return { id: object.id };
  return {
    code: 'reference_deleted',
    message: `${kind} \`${text}\` is deleted by this plan because its document is gone; remove the reference or restore the document`,
  };
}

/** What a text may have meant; nothing once enough was compared. */
function candidates({ hints, desiredKeys, snapshot }: Names, kind: string): readonly string[] {
  if (hints.left <= 0) return [];
  const stored = snapshot.ofKind(kind).flatMap(({ key, name }) => (key === undefined ? [name] : [key, name]));
  const found = [...desiredKeys(kind), ...stored];
  hints.left -= found.length;
  return found;
}
