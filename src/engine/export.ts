import { equalJson, type Json, type JsonObject } from '../lib/json.ts';
import { apiVersion, type Metadata } from '../model/document.ts';
import { type AnyField, entriesOf, type Fields, isEmpty } from '../model/field.ts';
import type { Kind } from '../model/kind.ts';
import { fieldsOn } from '../model/lower/shape.ts';
import { defaultOf } from '../model/normalize.ts';
import type { StoredObject } from '../model/object.ts';
import { mapReferences } from '../model/references.ts';
import type { Snapshot } from '../model/snapshot.ts';
import { adoptAnnotation } from '../plan/identity.ts';

/** A document of an export. */
export interface ExportedDocument {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Metadata;
  readonly spec: JsonObject;
}

/** Which objects to export. */
export interface ExportFilter {
  readonly kind?: string;
  /** Only what this source states. */
  readonly source?: string;
}

/**
 * The account as documents, sorted by kind and key. Planning them changes nothing: objects without a key get one that
 * follows from their name and carry their id for adoption. The server's own objects are left out.
 */
export function exportDocuments(state: Snapshot, filter: ExportFilter = {}): readonly ExportedDocument[] {
  const keys = createKeys(state);
  const documents: ExportedDocument[] = [];
  for (const kind of state.registry.kinds) {
    if (!kind.document.allowed || kind.parent?.inline !== undefined) continue;
    if (filter.kind !== undefined && filter.kind !== kind.name) continue;
    for (const object of state.ofKind(kind.name)) {
      if (kind.isSystem?.(object) === true) continue;
      if (filter.source !== undefined && !object.declared.some(({ source }) => source === filter.source)) continue;
      documents.push(exportObject(state, kind, object, keys));
    }
  }
  return documents.sort((a, b) => compare(a.kind, b.kind) || compare(a.metadata.name, b.metadata.name));
}

function exportObject(
  state: Snapshot,
  kind: Kind,
  object: StoredObject,
  keys: (id: string) => string,
): ExportedDocument {
  const children = state.registry.inlineOf(kind.name).flatMap(({ child, member }) => {
    const items = state.childrenOf(object.id, child.name).map((item) => exportSpec(state, child, item, keys));
    return items.length === 0 ? [] : [[member, items] as const];
  });
  const annotations = {
    ...(object.key === undefined ? { [adoptAnnotation]: `id:${object.id}` } : {}),
    ...(object.protected ? { 'heddle.dev/prevent-delete': 'true' } : {}),
  };
  const name = kind.parent === undefined ? keys(object.id) : childName(object, keys);
  const parent = object.parent === undefined ? {} : { [kind.parent?.field ?? '']: keys(object.parent) };
  const spec = { ...parent, ...exportSpec(state, kind, object, keys) };
  const { name: display, ...rest } = spec;
  return {
    apiVersion,
    kind: kind.name,
    metadata: { name, ...(Object.keys(annotations).length === 0 ? {} : { annotations }) },
    spec: {
      ...(display === undefined || display === name ? {} : { name: display }),
      ...rest,
      ...Object.fromEntries(children),
    },
  };
}

/** What the document of a child is called; the key of the child follows from its parent and itself. */
function childName(object: StoredObject, keys: (id: string) => string): string {
  return `${keys(object.parent ?? '')}-${slugOf(object)}`.replace(/^id:/, '');
}

function exportSpec(state: Snapshot, kind: Kind, object: StoredObject, keys: (id: string) => string): JsonObject {
  const fields = Object.fromEntries(
    entriesOf(fieldsOn(kind, 'document')).filter(([name]) => name !== kind.parent?.field),
  );
  const stated = stateFields(fields, object.spec);
  return mapReferences(kind.spec, stated, ({ text }) => (state.get(text) === undefined ? undefined : keys(text)));
}

/** What a document has to say: everything that is not the default anyway. */
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
    const inner = stateFields(field.fields, value as JsonObject);
    // What is one piece says something by being there.
    return isEmpty(inner) && field.whole !== true ? undefined : inner;
  }
  const optional = field.required !== true || field.documentDefault !== undefined;
  if (optional && equalJson(value, defaultOf(field))) return undefined;
  if (optional && isEmpty(value)) return undefined;
  if (field.type === 'keyed') return (value as readonly JsonObject[]).map((entry) => stateFields(field.fields, entry));
  const { of } = field.type === 'list' ? field : {};
  if (of?.type === 'object') return (value as readonly JsonObject[]).map((item) => stateFields(of.fields, item));
  return value;
}

/** The text by which documents name an object: its key, else one that follows from its name and, where that is not enough, its id. */
function createKeys(state: Snapshot): (id: string) => string {
  const slugs = new Map<string, number>();
  for (const object of state.objects()) {
    const slug = `${object.kind}/${object.key ?? slugOf(object)}`;
    slugs.set(slug, (slugs.get(slug) ?? 0) + 1);
  }
  return (id) => {
    const object = state.get(id);
    if (object === undefined) return `id:${id}`;
    if (object.key !== undefined) return object.key;
    const kind = state.registry.get(object.kind);
    if (kind.isSystem?.(object) === true) return object.name;
    if (!kind.document.allowed) return `id:${id}`;
    const slug = slugOf(object);
    return slugs.get(`${object.kind}/${slug}`) === 1 ? slug : `${slug}-${object.id.slice(-8)}`;
  };
}

function slugOf(object: StoredObject): string {
  const slug = object.name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 200)
    .replace(/^-+|-+$/g, '');
  return slug === '' ? `${object.kind.toLowerCase()}-${object.id.slice(-8)}` : slug;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
