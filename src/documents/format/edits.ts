import { isObject, type Json, type JsonObject } from '../../lib/json.ts';
import { nearestAll } from '../../lib/nearest.ts';
import type { Registry } from '../../model/declare/registry.ts';
import type { Document } from '../../model/document.ts';
import { documentFields } from '../../model/lower/shape.ts';
import { mentionsOf } from '../../model/schema/references.ts';
import { foreignValue } from '../../model/schema/validation/foreign-names.ts';
import { describeForeignObject } from '../foreign-value.ts';
import { pointerTo } from '../position.ts';
import { isList } from '../stated.ts';
import { quotedText } from './scalars.ts';
import { documentShape, type Shape, shapeWithin } from './shape.ts';
import type { Collection, Entry } from './tree.ts';

/** Edits of a document, by the JSON pointer of what they edit. */
export type Edits = ReadonlyMap<string, Edit>;

/** An edit: a new name of a member, a new text of a scalar, or a removal. */
export type Edit = { readonly name: string } | { readonly text: string } | { readonly removed: true };

/** Current keys of documents, by `renameId` of the kind and the previous key. */
export type Renames = ReadonlyMap<string, string>;

/**
 * Returns the renames that documents declare in `previousNames`. Leaves out a previous key that a document has now, or
 * that two documents had.
 */
export function renamesOf(documents: readonly Document[]): Renames {
  const present = new Set(documents.map(({ kind, metadata }) => renameId(kind, metadata.name)));
  const found = new Map<string, string>();
  const ambiguous = new Set<string>();
  for (const { kind, metadata } of documents) {
    for (const former of metadata.previousNames ?? []) {
      const id = renameId(kind, former);
      if (found.has(id) || present.has(id)) ambiguous.add(id);
      found.set(id, metadata.name);
    }
  }
  return new Map([...found].filter(([id]) => !ambiguous.has(id)));
}

function renameId(kind: string, key: string): string {
  return `${kind}/${key}`;
}

interface EditSearch {
  readonly registry: Registry;
  readonly renames: Renames;
  readonly edits: Map<string, Edit>;
}

/** Returns the edits that replace former names and unambiguous misspellings in a document or a list of documents. */
export function findEdits(registry: Registry, renames: Renames, value: Json): Edits {
  const finding = { registry, renames, edits: new Map<string, Edit>() };
  findInDocument(finding, value, '');
  return finding.edits;
}

function findInDocument(finding: EditSearch, value: Json, pointer: string): void {
  if (!isObject(value) || describeForeignObject(value) !== undefined) return;
  const { registry, edits } = finding;
  const { kind, items } = value;
  if (isList(value)) {
    if (!Array.isArray(items)) return;
    for (const [at, item] of items.entries()) findInDocument(finding, item, `${pointer}/items/${at}`);
    return;
  }
  findInValue(finding, value, documentShape(registry, value), pointer);
  if (typeof kind !== 'string') return;
  const allowed = registry.kinds.filter(({ document }) => document.allowed).map(({ name }) => name);
  const meant = registry.names.includes(kind) ? undefined : findOnlyNearMatch(kind, allowed);
  if (meant !== undefined) edits.set(`${pointer}/kind`, { text: meant });
  findReferences(finding, value, pointer);
}

function findInValue(finding: EditSearch, value: Json, shape: Shape, pointer: string): void {
  const { allowedValues, foreignValues } = shape;
  if (Array.isArray(value)) {
    for (const [at, item] of value.entries())
      findInValue(finding, item, shapeWithin(shape, at), pointerTo(pointer, at));
  } else if (isObject(value)) findInMembers(finding, value, shape, pointer);
  else if (typeof value === 'string' && allowedValues !== undefined && !allowedValues.includes(value)) {
    const meant = foreignValue(foreignValues, value) ?? findOnlyNearMatch(value, allowedValues);
    if (meant !== undefined) finding.edits.set(pointer, { text: meant });
  }
}

function findInMembers(finding: EditSearch, value: JsonObject, shape: Shape, pointer: string): void {
  const taken = new Set(Object.keys(value));
  for (const [name, member] of Object.entries(value)) {
    const now = currentNameOf(name, shape);
    if (now === undefined) findInValue(finding, member, shapeWithin(shape, name), pointerTo(pointer, name));
    // A map cannot have two members with the same name.
    else if (!taken.has(now)) {
      finding.edits.set(pointerTo(pointer, name), { name: now });
      taken.add(now);
    }
  }
}

function currentNameOf(name: string, { members, allowsOtherMembers, formerNames = {} }: Shape): string | undefined {
  if (members === undefined || allowsOtherMembers === true || Object.hasOwn(members, name)) return undefined;
  return Object.hasOwn(formerNames, name) ? formerNames[name] : findOnlyNearMatch(name, Object.keys(members));
}

/** Returns the only word that is close to the given one. Returns `undefined` when several words are close. */
function findOnlyNearMatch(word: string, words: readonly string[]): string | undefined {
  const [meant, other] = nearestAll(word, words, 2);
  return other === undefined ? meant : undefined;
}

function findReferences({ registry, renames, edits }: EditSearch, value: JsonObject, pointer: string): void {
  const { kind: name, spec } = value;
  const kind = registry.find(String(name));
  if (kind === undefined || !isObject(spec) || renames.size === 0) return;
  /** Names of members, by the JSON pointer of their map. */
  const taken = new Map<string, Set<string>>();
  for (const mention of mentionsOf(documentFields(registry, kind), spec)) {
    const now = currentKeyOf(registry, renames, mention.kind, mention.text);
    if (now === undefined) continue;
    const mentionPointer = `${pointer}/spec${mention.pointer}`;
    const around = mention.pointer.slice(0, mention.pointer.lastIndexOf('/'));
    const holder = valueAt(spec, around);
    if (!isObject(holder) || valueAt(spec, mention.pointer) === mention.text) {
      edits.set(mentionPointer, { text: now });
      continue;
    }
    const names = taken.get(around) ?? new Set(Object.keys(holder));
    taken.set(around, names);
    // A map cannot have two members with the same name. The user must decide which of the two is meant.
    if (names.has(now)) continue;
    names.add(now);
    edits.set(mentionPointer, { name: now });
  }
}

/**
 * Returns the current key of an object, or `undefined` when it was not renamed. The key of a child begins with the key
 * of its parent, so a rename of the parent changes it too.
 */
function currentKeyOf(registry: Registry, renames: Renames, kind: string, text: string): string | undefined {
  const known = renames.get(renameId(kind, text));
  const parent = registry.find(kind)?.parent?.kind;
  const [, key = '', rest = ''] = /^([^/]+)(\/.*)$/s.exec(text) ?? [];
  const now = parent === undefined ? undefined : renames.get(renameId(parent, key));
  return known ?? (now === undefined ? undefined : now + rest);
}

function valueAt(value: Json | undefined, pointer: string): Json | undefined {
  const [, ...steps] = pointer.split('/').map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  return steps.reduce<Json | undefined>((at, step) => {
    if (Array.isArray(at)) return (at as readonly Json[])[Number(step)];
    return isObject(at) ? at[step] : undefined;
  }, value);
}

/** Returns the value with the edits applied. */
export function editValue(edits: Edits, value: Json, pointer = ''): Json {
  const edit = edits.get(pointer);
  if (edit !== undefined && 'text' in edit) return edit.text;
  const isKept = (step: string | number) => !isRemoved(edits, pointerTo(pointer, step));
  if (Array.isArray(value))
    return value.flatMap((item: Json, at) => (isKept(at) ? [editValue(edits, item, pointerTo(pointer, at))] : []));
  if (!isObject(value)) return value;
  const members = Object.entries(value).filter(([name]) => isKept(name));
  return Object.fromEntries(
    members.map(([name, member]) => {
      const memberPointer = pointerTo(pointer, name);
      return [newNameAt(edits, memberPointer) ?? name, editValue(edits, member, memberPointer)];
    }),
  );
}

/** Returns the tree with the edits applied. */
export function editTree(edits: Edits, tree: Collection, pointer = ''): Collection {
  if (edits.size === 0) return tree;
  return {
    ...tree,
    entries: tree.entries.flatMap((entry, at) => {
      const entryPointer = pointerTo(pointer, entry.key?.name ?? at);
      return isRemoved(edits, entryPointer) ? [] : [editEntry(edits, entry, entryPointer)];
    }),
  };
}

/** Yields the entries that the edits remove, except entries in brackets, which share their lines with other entries. */
export function* removedEntries(edits: Edits, tree: Collection, pointer = ''): Generator<Entry> {
  for (const [at, entry] of tree.entries.entries()) {
    const entryPointer = pointerTo(pointer, entry.key?.name ?? at);
    if (isRemoved(edits, entryPointer) && !tree.flow) yield entry;
    else if (entry.value.type === 'collection') yield* removedEntries(edits, entry.value, entryPointer);
  }
}

function isRemoved(edits: Edits, pointer: string): boolean {
  const edit = edits.get(pointer);
  return edit !== undefined && 'removed' in edit;
}

function editEntry(edits: Edits, entry: Entry, pointer: string): Entry {
  const { key, value } = entry;
  const name = newNameAt(edits, pointer);
  const edit = edits.get(pointer);
  const named = key === undefined || name === undefined ? entry : { ...entry, key: { name, text: quotedText(name) } };
  if (value.type === 'collection') return { ...named, value: editTree(edits, value, pointer) };
  if (edit === undefined || !('text' in edit)) return named;
  return { ...named, value: { type: 'scalar', lines: [quotedText(edit.text)], block: false } };
}

function newNameAt(edits: Edits, pointer: string): string | undefined {
  const edit = edits.get(pointer);
  return edit !== undefined && 'name' in edit ? edit.name : undefined;
}
