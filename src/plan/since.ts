import { equalJson } from '../lib/json.ts';
import type { Document } from '../model/document.ts';
import type { StoredObject } from '../model/object.ts';
import type { Snapshot } from '../model/snapshot.ts';

/** Documents that are new or different, and the objects that the former documents in their places stated. */
export interface ChangesSince {
  readonly documents: readonly Document[];
  readonly gone: readonly StoredObject[];
}

/**
 * What changed between two readings of a source. Unchanged files give the very same documents, so identity tells most of it.
 * `undefined` when a document left, or when others may state the same children: these are questions about all documents.
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
  if (mayShareChildren(snapshot, [...documents, ...former], now)) return undefined;
  return { documents, gone: former.flatMap((document) => statedBy(snapshot, source, document)) };
}

interface Differences {
  readonly documents: readonly Document[];
  readonly former: readonly Document[];
}

/** Documents that are only in one of the lists. Of a file that was read again most say the same in the same place. */
function differences(before: readonly Document[], now: readonly Document[]): Differences {
  const [was, is] = withoutCommonEnds(before, now);
  const known = new Set(was);
  const present = new Set(is);
  const former = was.filter((document) => !present.has(document));
  const byPlace = new Map(former.map((document) => [placeOf(document), document]));
  const same = new Set<Document>();
  const documents = is.filter((document) => {
    if (known.has(document)) return false;
    const earlier = byPlace.get(placeOf(document));
    if (earlier === undefined || !isSame(earlier, document)) return true;
    same.add(earlier);
    return false;
  });
  return { documents, former: former.filter((document) => !same.has(document)) };
}

function placeOf({ place }: Document): string {
  return `${place.file}:${place.line}:${place.index}${place.pointer}`;
}

function isSame(a: Document, b: Document): boolean {
  // Documents are plain data.
  return a.kind === b.kind && equalJson({ ...a.metadata }, { ...b.metadata }) && equalJson(a.spec, b.spec);
}

/** What lies between the documents that both lists begin and end with: after one edit a few of thousands. */
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

/** Children can stand inside their parent's document or alone: whose they are takes all documents to tell. */
function mayShareChildren({ registry }: Snapshot, changed: readonly Document[], now: readonly Document[]): boolean {
  const isChild = ({ kind }: Document) => registry.find(kind)?.parent !== undefined;
  const isParent = ({ kind }: Document) => registry.childrenOf(kind).length > 0;
  return changed.some(isChild) || (changed.some(isParent) && now.some(isChild));
}

function nameOf(document: Document): string {
  return `${document.kind}/${document.metadata.name}`;
}

/** The object of a document and its children, as far as the source states them. */
function statedBy(snapshot: Snapshot, source: string, document: Document): readonly StoredObject[] {
  const object = snapshot.findByKey(document.kind, document.metadata.name);
  if (object === undefined) return [];
  const children = snapshot.registry
    .childrenOf(document.kind)
    .flatMap((kind) => snapshot.childrenOf(object.id, kind.name));
  return [object, ...children].filter(({ declared }) => declared.some((declaration) => declaration.source === source));
}
