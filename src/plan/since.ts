import type { Document } from '../model/document.ts';
import type { StoredObject } from '../model/object.ts';
import type { Snapshot } from '../model/snapshot.ts';

/** Documents that are new or different, and the objects that the former documents in their places stated. */
export interface ChangesSince {
  readonly documents: readonly Document[];
  readonly gone: readonly StoredObject[];
}

/**
 * What changed between two readings of a source. Unchanged files give the very same documents, so identity tells.
 * `undefined` when a document left, or when others may state the same children: these are questions about all documents.
 */
export function changesSince(
  snapshot: Snapshot,
  source: string,
  before: readonly Document[],
  now: readonly Document[],
): ChangesSince | undefined {
  const known = new Set(before);
  const present = new Set(now);
  const documents = now.filter((document) => !known.has(document));
  const names = new Set(documents.map(nameOf));
  const former = before.filter((document) => !present.has(document));
  if (!former.every((document) => names.has(nameOf(document)))) return undefined;
  if (mayShareChildren(snapshot, [...documents, ...former], now)) return undefined;
  return { documents, gone: former.flatMap((document) => statedBy(snapshot, source, document)) };
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
