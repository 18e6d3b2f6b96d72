import type { Registry } from '../declare/registry.ts';
import { inCanonicalOrder } from '../schema/canonical-order.ts';
import { completeSpec, contentOf } from './members.ts';
import type { StoredObject } from './object.ts';

/** An object as one JSON value, as the history, its base and archives keep it: its memberships are in its spec. */
export type ObjectImage = Omit<StoredObject, 'members'> & { readonly members?: never };

/** The image of an object. */
export function imageOf({ members, ...object }: StoredObject): ObjectImage {
  return members === undefined ? object : { ...object, spec: completeSpec({ spec: object.spec, members }) };
}

/** The object of an image, in canonical order. */
export function objectOf(registry: Registry, image: ObjectImage): StoredObject {
  const fields = registry.find(image.kind)?.spec ?? {};
  return inCanonicalOrder(fields, { ...image, ...contentOf(fields, image.spec) });
}
