import { forEachInSteps } from '../../../lib/steps.ts';
import type { Kind } from '../../../model/declare/kind.ts';
import { mapReferences } from '../../../model/schema/references.ts';
import type { StoredObject } from '../../../model/state/object.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';

/**
 * Returns a function that returns the name of an object in documents: its key, else the key that it will get. A child
 * will be named after its parent, such as `network/resource`. Any other object gets a slug of its name, with its id
 * appended when the slug is not unique.
 */
export function* createKeyLookUp(state: Snapshot): Generator<undefined, (id: string) => string> {
  const slugs = new Map<string, number>();
  yield* forEachInSteps(state.objects(), (object) => {
    const slug = `${object.kind}/${object.key ?? slugOf(object)}`;
    slugs.set(slug, (slugs.get(slug) ?? 0) + 1);
  });
  const keyOf = (id: string): string => {
    const object = state.get(id);
    if (object === undefined) return `id:${id}`;
    if (object.key !== undefined) return object.key;
    const kind = state.registry.get(object.kind);
    if (kind.isSystem?.(object) === true) return object.name;
    if (!kind.document.allowed) return `id:${id}`;
    if (object.parent !== undefined) return childKeyOf(kind, object, object.parent, keyOf);
    const slug = slugOf(object);
    return slugs.get(`${object.kind}/${slug}`) === 1 ? slug : `${slug}-${object.id}`;
  };
  return keyOf;
}

/** Returns the key that the planner derives for a child from its document. */
function childKeyOf(kind: Kind, { spec }: StoredObject, parent: string, keyOf: (id: string) => string): string {
  const stated = mapReferences(kind.spec, spec, ({ text }) => keyOf(text));
  // A stored spec is canonical, so it has the shape that its fields define.
  return `${keyOf(parent).replace(/^id:/, '')}/${kind.naturalKey?.(stated)}`;
}

/**
 * Returns a function that returns the reference to an object. An object that is not exported and has no key is referred
 * to by its name if that is unique, otherwise by its id.
 */
export function createReferenceLookUp(
  state: Snapshot,
  keys: (id: string) => string,
  isExported: (object: StoredObject, kind: Kind) => boolean,
): (id: string) => string {
  return (id) => {
    const object = state.get(id);
    if (object === undefined || object.key !== undefined) return keys(id);
    const kind = state.registry.get(object.kind);
    if (isExported(object, kind) || kind.isSystem?.(object) === true || !kind.document.allowed) return keys(id);
    return state.lookUp(object.kind, 'name', object.name).length === 1 ? `name:${object.name}` : `id:${id}`;
  };
}

/** Returns the name of an object in the form of a document name, or its kind and id when its name has no letters. */
export function slugOf(object: StoredObject): string {
  const slug = object.name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 200)
    .replace(/^-+|-+$/g, '');
  return slug === '' ? `${object.kind.toLowerCase()}-${object.id}` : slug;
}
