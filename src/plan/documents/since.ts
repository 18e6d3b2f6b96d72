import { equalJson } from '../../lib/json.ts';
import type { Registry } from '../../model/declare/registry.ts';
import type { Document } from '../../model/document.ts';
import { aliasIndex } from '../../model/state/facets.ts';
import type { StoredObject } from '../../model/state/object.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';

/** New and changed documents, and the objects that the earlier versions of these documents stated. */
export interface ChangesSince {
  readonly documents: readonly Document[];
  readonly gone: readonly StoredObject[];
}

/**
 * Returns the changes between two reads of a source. Unchanged files yield identical `Document` values, so comparing
 * references finds most of the unchanged documents. A child can be stated inside its parent's document or in its own,
 * so all documents of a parent are included. Returns `undefined` when a document was removed, or when a new name is a
 * previous name of another document: these cases need all documents.
 */
export function changesSince(
  snapshot: Snapshot,
  source: string,
  before: readonly Document[],
  now: readonly Document[],
): ChangesSince | undefined {
  const { documents, former } = differences(before, now);
  const names = new Set(documents.map(nameOf));
  if (!former.every((document) => names.has(nameOf(document)))) return undefined;
  const known = new Set(former.map(nameOf));
  if (takesFormerName(now, new Set([...names].filter((name) => !known.has(name))))) return undefined;
  const families = familiesOf(snapshot, [...documents, ...former]);
  const relatives =
    families.size === 0 ? [] : now.filter(createFamilyCheck(snapshot.registry, families, new Set(documents)));
  const stated = [...former, ...relatives].flatMap((document) => statedBy(snapshot, source, document));
  const children = [...families.values()].flatMap(({ parents }) => childrenOf(snapshot, source, parents));
  return { documents: [...documents, ...relatives], gone: [...new Set([...stated, ...children])] };
}

/** Whether a new document has a name that another document lists as a previous name. */
function takesFormerName(now: readonly Document[], names: ReadonlySet<string>): boolean {
  if (names.size === 0) return false;
  return now.some(
    ({ kind, metadata }) => metadata.previousNames?.some((name) => names.has(`${kind}/${name}`)) === true,
  );
}

/** Parents of one kind whose children may have changed. */
interface Family {
  readonly parents: Map<string, StoredObject>;
  /** All texts by which documents may refer to the parents. */
  readonly texts: Set<string>;
}

/** Groups the parents of changed documents by kind. */
function familiesOf(snapshot: Snapshot, changed: readonly Document[]): ReadonlyMap<string, Family> {
  const families = new Map<string, Family>();
  const add = (kind: string, text: string): void => {
    const family = families.get(kind) ?? { parents: new Map(), texts: new Set() };
    families.set(kind, family);
    family.texts.add(text);
    for (const parent of namedBy(snapshot, kind, text)) {
      family.parents.set(parent.id, parent);
      for (const name of [parent.key, parent.name, ...(parent.aliases ?? [])]) if (name) family.texts.add(name);
      family.texts.add(`id:${parent.id}`).add(`name:${parent.name}`);
    }
  };
  for (const { kind: name, metadata, spec } of changed) {
    const { parent } = snapshot.registry.find(name) ?? {};
    if (parent !== undefined) add(parent.kind, String(spec[parent.field]));
    if (snapshot.registry.childrenOf(name).length > 0) add(name, metadata.name);
  }
  return families;
}

function namedBy(snapshot: Snapshot, kind: string, text: string): readonly StoredObject[] {
  const byId = text.startsWith('id:') ? snapshot.get(text.slice(3)) : snapshot.findByKey(kind, text);
  return byId === undefined
    ? [...snapshot.lookUp(kind, aliasIndex, text), ...snapshot.lookUp(kind, 'name', text.replace(/^name:/, ''))]
    : [byId];
}

/**
 * Returns a function that checks whether a document states a parent of the families or a child of one. Documents in
 * `known` are excluded.
 */
function createFamilyCheck(
  registry: Registry,
  families: ReadonlyMap<string, Family>,
  known: ReadonlySet<Document>,
): (document: Document) => boolean {
  const fields = new Map(
    [...families.keys()].flatMap((kind) =>
      registry.childrenOf(kind).map((child) => [child.name, { kind, field: child.parent?.field ?? '' }] as const),
    ),
  );
  return (document) => {
    const { kind, metadata, spec } = document;
    const child = fields.get(kind);
    const isChild = child !== undefined && families.get(child.kind)?.texts.has(String(spec[child.field])) === true;
    return (isChild || families.get(kind)?.texts.has(metadata.name) === true) && !known.has(document);
  };
}

/** Returns the children of the parents that the source states. */
function childrenOf(
  snapshot: Snapshot,
  source: string,
  parents: ReadonlyMap<string, StoredObject>,
): readonly StoredObject[] {
  return [...parents.values()].flatMap(({ id, kind }) =>
    snapshot.registry
      .childrenOf(kind)
      .flatMap((child) => snapshot.childrenOf(id, child.name))
      .filter((child) => isStated(child, source)),
  );
}

interface Differences {
  readonly documents: readonly Document[];
  readonly former: readonly Document[];
}

/**
 * Returns the documents that are only in one of the lists. Most documents of a file that was read again are equal and
 * at the same position; these count as unchanged.
 */
function differences(before: readonly Document[], now: readonly Document[]): Differences {
  const [was, is] = withoutCommonEnds(before, now);
  const known = new Set(was);
  const present = new Set(is);
  const former = was.filter((document) => !present.has(document));
  const byPosition = new Map(former.map((document) => [positionKeyOf(document), document]));
  const same = new Set<Document>();
  const documents = is.filter((document) => {
    if (known.has(document)) return false;
    const earlier = byPosition.get(positionKeyOf(document));
    if (earlier === undefined || !isSame(earlier, document)) return true;
    same.add(earlier);
    return false;
  });
  return { documents, former: former.filter((document) => !same.has(document)) };
}

function positionKeyOf({ position }: Document): string {
  return `${position.file}:${position.line}:${position.index}${position.pointer}`;
}

function isSame(a: Document, b: Document): boolean {
  // Documents are plain data, so they can be compared as JSON.
  return a.kind === b.kind && equalJson({ ...a.metadata }, { ...b.metadata }) && equalJson(a.spec, b.spec);
}

/** Returns both lists without their common start and end: after one edit, a few documents out of thousands. */
function withoutCommonEnds(
  before: readonly Document[],
  now: readonly Document[],
): readonly [readonly Document[], readonly Document[]] {
  const shorter = Math.min(before.length, now.length);
  let start = 0;
  while (start < shorter && before[start] === now[start]) start += 1;
  let end = 0;
  while (end < shorter - start && before[before.length - 1 - end] === now[now.length - 1 - end]) end += 1;
  return [before.slice(start, before.length - end), now.slice(start, now.length - end)];
}

function nameOf(document: Document): string {
  return `${document.kind}/${document.metadata.name}`;
}

/** Returns the object that a document states. Its children are found through their parents. */
function statedBy(snapshot: Snapshot, source: string, { kind, metadata }: Document): readonly StoredObject[] {
  const object = snapshot.findByKey(kind, metadata.name);
  return object !== undefined && isStated(object, source) ? [object] : [];
}

function isStated({ declared }: StoredObject, source: string): boolean {
  return declared.some((declaration) => declaration.source === source);
}
