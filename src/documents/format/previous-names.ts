import { isObject, type Json } from '../../lib/json.ts';
import { previousNamesAnnotation } from '../../model/document.ts';
import { pointerTo } from '../position.ts';
import { isList } from '../stated.ts';
import type { Edit, Edits } from './edits.ts';

/**
 * Returns whether `former` is recorded as a previous key of the object with this key, so that documents may still refer
 * to the object by it.
 */
export type IsApplied = (kind: string, key: string, former: string) => boolean;

/** Returns the edits that remove previous names whose renames were applied. */
export function findAppliedNames(isApplied: IsApplied, value: Json, pointer = ''): Edits {
  if (!isObject(value)) return new Map();
  const { kind, items, metadata } = value;
  if (isList(value)) {
    const all = Array.isArray(items) ? items : [];
    return new Map(all.flatMap((item: Json, at) => [...findAppliedNames(isApplied, item, `${pointer}/items/${at}`)]));
  }
  if (!isObject(metadata) || typeof kind !== 'string' || typeof metadata['name'] !== 'string') return new Map();
  const key = metadata['name'];
  const isDone = (former: unknown) => typeof former === 'string' && isApplied(kind, key, former);
  const metadataPointer = `${pointer}/metadata`;
  return new Map([
    ...editsOfList(metadata['previousNames'], isDone, `${metadataPointer}/previousNames`),
    ...editsOfAnnotations(metadata['annotations'], isDone, `${metadataPointer}/annotations`),
  ]);
}

type Found = readonly (readonly [string, Edit])[];

function editsOfList(names: Json | undefined, isDone: (name: unknown) => boolean, pointer: string): Found {
  if (!Array.isArray(names) || !names.some(isDone)) return [];
  if (names.every(isDone)) return [[pointer, { removed: true }]];
  return names.flatMap((name, at) => (isDone(name) ? [[pointerTo(pointer, at), { removed: true }] as const] : []));
}

/** Edits the annotation that is equivalent to `previousNames`: names separated by commas. */
function editsOfAnnotations(annotations: Json | undefined, isDone: (name: unknown) => boolean, pointer: string): Found {
  if (!isObject(annotations)) return [];
  const text = annotations[previousNamesAnnotation];
  if (typeof text !== 'string') return [];
  const names = text.split(',').map((name) => name.trim());
  const left = names.filter((name) => !isDone(name));
  if (left.length === names.length) return [];
  const annotation = pointerTo(pointer, previousNamesAnnotation);
  if (left.length > 0) return [[annotation, { text: left.join(', ') }]];
  return [[Object.keys(annotations).length === 1 ? pointer : annotation, { removed: true }]];
}
