import type { StoredObject } from '../../model/state/object.ts';

/** A text of a stored spec, empty when it is absent. */
export function textOf(object: StoredObject, field: string): string {
  const value = object.spec[field];
  return typeof value === 'string' ? value : '';
}
