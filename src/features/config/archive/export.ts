import { asObject, asObjects, equalJson, type Json, type JsonObject } from '../../../lib/json.ts';
import { eachInSteps, mapInSteps, runToEnd, sortInSteps } from '../../../lib/steps.ts';
import type { Kind } from '../../../model/declare/kind.ts';
import { apiVersion, type Metadata } from '../../../model/document.ts';
import { fieldsOn } from '../../../model/lower/shape.ts';
import { type AnyField, entriesOf, type Fields, isEmpty } from '../../../model/schema/field.ts';
import { defaultOf } from '../../../model/schema/normalize.ts';
import { mapReferences } from '../../../model/schema/references.ts';
import { mapSecrets } from '../../../model/schema/secret-fields.ts';
import { completeSpec } from '../../../model/state/members.ts';
import type { StoredObject } from '../../../model/state/object.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import { adoptAnnotation, protectAnnotation } from '../../../plan/documents/annotations.ts';

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
  /** Only this one, as a document of its own. */
  readonly id?: string;
  /** Kinds that may not be looked at are left out. */
  readonly isVisible?: (kind: Kind) => boolean;
  /** Every document names its object by id, also where the key says it. */
  readonly markAdopt?: boolean;
}

/** The account on its way into documents. */
interface Run {
  readonly state: Snapshot;
  /** The key that an object has, or gets. */
  keys(id: string): string;
  /** What the document of an object is called; no two documents of a kind share a name. */
  readonly names: ReadonlyMap<string, string>;
  /** The text by which documents of this export refer to an object. */
  mention(id: string): string;
  /** Children that are documents of their own, because only a document's key distinguishes them. */
  readonly ambiguous: ReadonlySet<string>;
  readonly filter: ExportFilter;
}

/**
 * The account as documents, sorted by kind and key. Planning them changes nothing: objects without a key get one that
 * follows from their name and carry their id for adoption. The server's own objects are left out.
 */
export function exportDocuments(state: Snapshot, filter: ExportFilter = {}): readonly ExportedDocument[] {
  return runToEnd(exportInSteps(state, filter));
}

/** The same. Yields now and then. */
export function* exportInSteps(
  state: Snapshot,
  filter: ExportFilter,
): Generator<undefined, readonly ExportedDocument[]> {
  const ambiguous = yield* findAmbiguous(state);
  const chosen = yield* chooseObjects(state, filter, ambiguous);
  const keys = yield* createKeys(state);
  const run: Run = {
    ...{ state, keys, ambiguous, filter, names: yield* namesOf(chosen, keys) },
    mention: createMentions(state, keys, new Set(chosen.map(({ id }) => id))),
  };
  const documents = yield* mapInSteps(chosen, (object) => exportObject(run, state.registry.get(object.kind), object));
  return yield* sortInSteps(documents, (a, b) => compare(a.kind, b.kind) || compare(a.metadata.name, b.metadata.name));
}

/** The objects that become documents of their own. */
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
    yield* eachInSteps(state.ofKind(kind.name), (object) => {
      if (kind.isSystem?.(object) !== true && isExported(object, kind)) chosen.push(object);
    });
  }
  return chosen;
}

/** Whether the source states the object; every object will do where no source is asked for. */
function isStatedBy(declared: StoredObject['declared'], source: string | undefined): boolean {
  return source === undefined || declared.some((declaration) => declaration.source === source);
}

/** Children without a key whose natural key a sibling has too. */
function* findAmbiguous(state: Snapshot): Generator<undefined, ReadonlySet<string>> {
  const ambiguous = new Set<string>();
  for (const kind of state.registry.kinds.filter((item) => keyField(item) !== undefined)) {
    const siblings = new Map<string, StoredObject[]>();
    yield* eachInSteps(state.ofKind(kind.name), (object) => {
      // A stored spec is canonical, so it has the shape that the fields give it.
      const place = `${object.parent}/${kind.naturalKey?.(object.spec)}`;
      const others = siblings.get(place);
      if (others === undefined) siblings.set(place, [object]);
      else others.push(object);
    });
    for (const equal of siblings.values())
      if (equal.length > 1) for (const { id, key } of equal) if (key === undefined) ambiguous.add(id);
  }
  return ambiguous;
}

/** The field by which documents distinguish the children of one parent. */
function keyField(kind: Kind): string | undefined {
  return entriesOf(kind.spec).find(([, { access }]) => access === 'key')?.[0];
}

function exportObject(run: Run, kind: Kind, object: StoredObject): ExportedDocument {
  const { state, keys, names, mention, ambiguous, filter } = run;
  const visible = state.registry.inlineOf(kind.name).filter(({ child }) => filter.isVisible?.(child) !== false);
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
  const name = names.get(object.id) ?? keys(object.id);
  const parent = object.parent === undefined ? {} : { [kind.parent?.field ?? '']: parentOf(object, mention) };
  const keyMember = ambiguous.has(object.id) ? { [keyField(kind) ?? '']: slugOf(object) } : {};
  const spec = { ...parent, ...keyMember, ...exportSpec(run, kind, object) };
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

/** The parent of a child, so that the key which follows from it is the one that the child has. */
function parentOf({ key, parent = '' }: StoredObject, mention: (id: string) => string): string {
  return key?.startsWith(`${parent}/`) === true ? `id:${parent}` : mention(parent);
}

/**
 * What documents are called. The key of a child follows from its parent and itself, so that any name will do which is one:
 * its id makes it so where two children would be called the same, or one too long.
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
  yield* eachInSteps(named, ({ id, name, use }) => {
    const isOwn = uses.get(use) === 1 && name.length <= longestName;
    names.set(id, isOwn ? name : `${name.slice(0, 200).replace(/[-.]+$/, '')}-${id}`);
  });
  return names;
}

/** Of documents, and of resources of Kubernetes. */
const longestName = 253;

function plainName(object: StoredObject, keys: (id: string) => string): string {
  if (object.parent === undefined) return keys(object.id);
  return `${keys(object.parent)}-${slugOf(object)}`.replace(/^id:/, '');
}

function exportSpec({ state, mention }: Run, kind: Kind, object: StoredObject): JsonObject {
  const fields = Object.fromEntries(
    entriesOf(fieldsOn(kind, 'document')).filter(([name]) => name !== kind.parent?.field),
  );
  const stated = stateFields(
    fields,
    mapSecrets(kind.spec, completeSpec(object), () => storedSecret),
  );
  return mapReferences(kind.spec, stated, ({ text }) => (state.get(text) === undefined ? undefined : mention(text)));
}

/** Stands for a secret: applying the document keeps the secret that the object has. */
const storedSecret: Json = { valueFrom: { stored: true } };

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
    const inner = stateFields(field.fields, asObject(value));
    // What is one piece says something by being there.
    return isEmpty(inner) && field.whole !== true ? undefined : inner;
  }
  const optional = field.required !== true || field.documentDefault !== undefined;
  if (optional && equalJson(value, defaultOf(field))) return undefined;
  if (optional && isEmpty(value)) return undefined;
  if (field.type === 'keyed') return asObjects(value).map((entry) => stateFields(field.fields, entry));
  const { of } = field.type === 'list' ? field : {};
  if (of?.type === 'object') return asObjects(value).map((item) => stateFields(of.fields, item));
  return value;
}

/** The text by which documents name an object: its key, else one that follows from its name and, where that is not enough, its id. */
function* createKeys(state: Snapshot): Generator<undefined, (id: string) => string> {
  const slugs = new Map<string, number>();
  yield* eachInSteps(state.objects(), (object) => {
    const slug = `${object.kind}/${object.key ?? slugOf(object)}`;
    slugs.set(slug, (slugs.get(slug) ?? 0) + 1);
  });
  return (id) => {
    const object = state.get(id);
    if (object === undefined) return `id:${id}`;
    if (object.key !== undefined) return object.key;
    const kind = state.registry.get(object.kind);
    if (kind.isSystem?.(object) === true) return object.name;
    if (!kind.document.allowed) return `id:${id}`;
    const slug = slugOf(object);
    return slugs.get(`${object.kind}/${slug}`) === 1 ? slug : `${slug}-${object.id}`;
  };
}

/** References to what stays out of an export and has no key say the name where that is enough, else the id. */
function createMentions(
  state: Snapshot,
  keys: (id: string) => string,
  exported: ReadonlySet<string>,
): (id: string) => string {
  return (id) => {
    const object = state.get(id);
    if (object === undefined || object.key !== undefined) return keys(id);
    const kind = state.registry.get(object.kind);
    const comesAlong = exported.has(id) || (object.parent !== undefined && exported.has(object.parent));
    if (comesAlong || kind.isSystem?.(object) === true || !kind.document.allowed) return keys(id);
    return state.lookUp(object.kind, 'name', object.name).length === 1 ? `name:${object.name}` : `id:${id}`;
  };
}

function slugOf(object: StoredObject): string {
  const slug = object.name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 200)
    .replace(/^-+|-+$/g, '');
  return slug === '' ? `${object.kind.toLowerCase()}-${object.id}` : slug;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
