import { asObject, asObjects, equalJson, type Json, type JsonObject } from '../../../lib/json.ts';
import { forEachInSteps, mapInSteps, runToEnd, sortInSteps } from '../../../lib/steps.ts';
import type { Kind } from '../../../model/declare/kind.ts';
import { apiVersion, type Metadata } from '../../../model/document.ts';
import { documentFields, fieldsOn } from '../../../model/lower/shape.ts';
import { type AnyField, type Fields, isEmpty } from '../../../model/schema/field.ts';
import { entriesOf } from '../../../model/schema/field-search.ts';
import { defaultOf } from '../../../model/schema/normalize.ts';
import { mapReferences } from '../../../model/schema/references.ts';
import { mapSecrets } from '../../../model/schema/secret-fields.ts';
import { completeSpec } from '../../../model/state/members.ts';
import type { StoredObject } from '../../../model/state/object.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import { adoptAnnotation, protectAnnotation } from '../../../plan/documents/annotations.ts';
import { createKeyLookUp, createReferenceLookUp, slugOf } from './document-names.ts';

/** A document of an export. */
export interface ExportedDocument {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Metadata;
  readonly spec: JsonObject;
}

/** Selects the objects to export. */
export interface ExportFilter {
  readonly kind?: string;
  /** Exports only what this source states. */
  readonly source?: string;
  /** Exports only the object with this id, as a separate document. */
  readonly id?: string;
  /** Kinds for which it returns false are left out. Absent: all kinds are exported. */
  readonly isVisible?: (kind: Kind) => boolean;
  /** Whether every document names its object by id for adoption, even when the object has a key. */
  readonly markAdopt?: boolean;
}

/** State of one export. */
interface ExportRun {
  readonly state: Snapshot;
  /** Returns the key of an object, or the key that it will get. */
  keyOf(id: string): string;
  /** Names of the documents, by id of the object. No two documents of a kind have the same name. */
  readonly names: ReadonlyMap<string, string>;
  /** Returns the text by which documents of this export refer to an object. */
  referenceTo(id: string): string;
  /**
   * Ids of children that are exported as separate documents, because only the key of a document distinguishes them from
   * siblings.
   */
  readonly ambiguous: ReadonlySet<string>;
  readonly filter: ExportFilter;
}

/**
 * Returns the account as documents, sorted by kind and name. Planning them changes nothing: objects without a key get a
 * key derived from their name, and their documents contain their id for adoption. The server's own objects are left
 * out.
 */
export function exportDocuments(state: Snapshot, filter: ExportFilter = {}): readonly ExportedDocument[] {
  return runToEnd(exportDocumentsInSteps(state, filter));
}

/** Like `exportDocuments`, but yields at intervals, so that the caller can pause. */
export function* exportDocumentsInSteps(
  state: Snapshot,
  filter: ExportFilter,
): Generator<undefined, readonly ExportedDocument[]> {
  const ambiguous = yield* findAmbiguous(state);
  const chosen = yield* chooseObjects(state, filter, ambiguous);
  const keys = yield* createKeyLookUp(state);
  const run: ExportRun = {
    ...{ state, keyOf: keys, ambiguous, filter, names: yield* namesOf(chosen, keys) },
    referenceTo: createReferenceLookUp(state, keys, createExportCheck(filter, new Set(chosen.map(({ id }) => id)))),
  };
  const documents = yield* mapInSteps(chosen, (object) => exportObject(run, state.registry.get(object.kind), object));
  return yield* sortInSteps(documents, (a, b) => compare(a.kind, b.kind) || compare(a.metadata.name, b.metadata.name));
}

/** Returns the objects that become separate documents. */
function* chooseObjects(
  state: Snapshot,
  filter: ExportFilter,
  ambiguous: ReadonlySet<string>,
): Generator<undefined, readonly StoredObject[]> {
  const isExported = ({ kind: name, id, parent, declared }: StoredObject, kind: Kind) => {
    if (filter.id !== undefined) return id === filter.id;
    const inline = kind.parent?.inline !== undefined;
    if (filter.kind !== undefined && filter.kind !== (inline ? kind.parent?.kind : name)) return false;
    if (!isStatedBy(declared, filter.source)) return false;
    return !inline || ambiguous.has(id) || !isStatedBy(state.get(parent ?? '')?.declared ?? [], filter.source);
  };
  const chosen: StoredObject[] = [];
  for (const kind of state.registry.kinds) {
    if (!kind.document.allowed || filter.isVisible?.(kind) === false) continue;
    yield* forEachInSteps(state.ofKind(kind.name), (object) => {
      if (kind.isSystem?.(object) !== true && isExported(object, kind)) chosen.push(object);
    });
  }
  return chosen;
}

/** Returns a check whether an object is exported: as a document of its own, or in the document of its parent. */
function createExportCheck({ source, isVisible }: ExportFilter, chosen: ReadonlySet<string>) {
  return ({ id, parent = '', declared }: StoredObject, kind: Kind): boolean => {
    if (chosen.has(id)) return true;
    const isInline = kind.parent?.inline !== undefined && chosen.has(parent);
    return isInline && isStatedBy(declared, source) && isVisible?.(kind) !== false;
  };
}

/** Whether the source declares the object. Always true when `source` is `undefined`. */
function isStatedBy(declared: StoredObject['declared'], source: string | undefined): boolean {
  return source === undefined || declared.some((declaration) => declaration.source === source);
}

/** Returns the ids of children without a key that have the same natural key as a sibling. */
function* findAmbiguous(state: Snapshot): Generator<undefined, ReadonlySet<string>> {
  const ambiguous = new Set<string>();
  for (const kind of state.registry.kinds.filter((item) => keyField(item) !== undefined)) {
    const siblings = new Map<string, StoredObject[]>();
    yield* forEachInSteps(state.ofKind(kind.name), (object) => {
      // A stored spec is canonical, so it has the shape that its fields define.
      const siblingKey = `${object.parent}/${kind.naturalKey?.(object.spec)}`;
      const others = siblings.get(siblingKey);
      if (others === undefined) siblings.set(siblingKey, [object]);
      else others.push(object);
    });
    for (const equal of siblings.values())
      if (equal.length > 1) for (const { id, key } of equal) if (key === undefined) ambiguous.add(id);
  }
  return ambiguous;
}

/** Returns the field by which documents distinguish the children of one parent. */
function keyField(kind: Kind): string | undefined {
  return entriesOf(kind.spec).find(([, { access }]) => access === 'key')?.[0];
}

function exportObject(run: ExportRun, kind: Kind, object: StoredObject): ExportedDocument {
  const { state, keyOf, names, referenceTo, ambiguous, filter } = run;
  const visible = state.registry.inlineChildrenOf(kind.name).filter(({ child }) => filter.isVisible?.(child) !== false);
  const children = visible.flatMap(({ child, member }) => {
    const own = state
      .childrenOf(object.id, child.name)
      .filter(({ id, declared }) => !ambiguous.has(id) && isStatedBy(declared, filter.source));
    return own.length === 0 ? [] : [[member, own.map((item) => exportSpec(run, child, item))] as const];
  });
  const annotations = {
    ...(object.key === undefined || filter.markAdopt === true ? { [adoptAnnotation]: `id:${object.id}` } : {}),
    ...(object.protected ? { [protectAnnotation]: 'true' } : {}),
  };
  const name = names.get(object.id) ?? keyOf(object.id);
  const parent = object.parent === undefined ? {} : { [kind.parent?.field ?? '']: parentOf(object, referenceTo) };
  const keyMember = ambiguous.has(object.id) ? { [keyField(kind) ?? '']: slugOf(object) } : {};
  const { name: display, ...own } = exportSpec(run, kind, object);
  const named = display === undefined || display === name ? {} : { name: display };
  return {
    apiVersion,
    kind: kind.name,
    metadata: { name, ...(Object.keys(annotations).length === 0 ? {} : { annotations }) },
    spec: inDeclaredOrder(documentFields(state.registry, kind), {
      ...{ ...parent, ...keyMember, ...named, ...own },
      ...Object.fromEntries(children),
    }),
  };
}

/** Returns the members in the order in which `heddle fmt` writes them. */
function inDeclaredOrder(fields: Fields, spec: JsonObject): JsonObject {
  const result: Record<string, Json> = {};
  for (const name of Object.keys(fields)) {
    const value = spec[name];
    if (value !== undefined) result[name] = value;
  }
  return result;
}

/** Returns the reference to the parent of a child, in the form from which the existing key of the child was derived. */
function parentOf({ key, parent = '' }: StoredObject, mention: (id: string) => string): string {
  return key?.startsWith(`${parent}/`) === true ? `id:${parent}` : mention(parent);
}

/**
 * Returns the names of documents. The key of a child is derived from its parent and itself, so its document may have
 * any unique name: the id is appended where two children would have the same name, or where the name would be too long.
 */
function* namesOf(
  objects: readonly StoredObject[],
  keys: (id: string) => string,
): Generator<undefined, ReadonlyMap<string, string>> {
  const uses = new Map<string, number>();
  const named = yield* mapInSteps(objects, (object) => {
    const name = plainName(object, keys);
    const use = `${object.kind}/${name}`;
    uses.set(use, (uses.get(use) ?? 0) + 1);
    return { id: object.id, name, use };
  });
  const names = new Map<string, string>();
  yield* forEachInSteps(named, ({ id, name, use }) => {
    const isOwn = uses.get(use) === 1 && name.length <= maxNameLength;
    names.set(id, isOwn ? name : `${name.slice(0, 200).replace(/[-.]+$/, '')}-${id}`);
  });
  return names;
}

/** Maximum length of the names of documents and of Kubernetes resources, in characters. */
const maxNameLength = 253;

function plainName(object: StoredObject, keys: (id: string) => string): string {
  if (object.parent === undefined) return keys(object.id);
  return `${keys(object.parent)}-${slugOf(object)}`.replace(/^id:/, '');
}

function exportSpec({ state, referenceTo }: ExportRun, kind: Kind, object: StoredObject): JsonObject {
  const fields = Object.fromEntries(
    entriesOf(fieldsOn(kind, 'document')).filter(([name]) => name !== kind.parent?.field),
  );
  const stated = stateFields(
    fields,
    mapSecrets(kind.spec, completeSpec(object), () => storedSecretPlaceholder),
  );
  return mapReferences(kind.spec, stated, ({ text }) =>
    state.get(text) === undefined ? undefined : referenceTo(text),
  );
}

/** Value in place of a secret. Applying the document keeps the secret that the object has. */
const storedSecretPlaceholder: Json = { valueFrom: { stored: true } };

/** Returns the fields that a document must state: those whose value is not the default. */
function stateFields(fields: Fields, spec: JsonObject): JsonObject {
  const result: Record<string, Json> = {};
  for (const [name, field] of entriesOf(fields)) {
    const value = spec[name];
    const stated = value === undefined ? undefined : stateValue(field, value);
    if (stated !== undefined) result[name] = stated;
  }
  return result;
}

function stateValue(field: AnyField, value: Json): Json | undefined {
  if (field.type === 'members') {
    const ids = Object.entries(value as Readonly<Record<string, readonly string[]>>).filter(([, origins]) =>
      origins.some((origin) => origin === 'source' || origin === 'api'),
    );
    return ids.length === 0 ? undefined : ids.map(([id]) => id);
  }
  if (field.type === 'object') {
    const inner = stateFields(field.fields, asObject(value));
    // The presence of a field that is `atomic` is significant, even when it is empty.
    return isEmpty(inner) && field.atomic !== true ? undefined : inner;
  }
  const optional = field.required !== true || field.documentDefault !== undefined;
  if (optional && equalJson(value, defaultOf(field))) return undefined;
  if (optional && isEmpty(value)) return undefined;
  if (field.type === 'keyed') return asObjects(value).map((entry) => stateFields(field.fields, entry));
  const { of } = field.type === 'list' ? field : {};
  if (of?.type === 'object') return asObjects(value).map((item) => stateFields(of.fields, item));
  return value;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
