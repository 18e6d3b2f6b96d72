import { isObject, type JsonObject } from '../../lib/json.ts';
import type { StoredObject } from '../../model/object.ts';

/** A text of a stored spec, empty when it is absent. */
export function textOf(object: StoredObject, field: string): string {
  const value = object.spec[field];
  return typeof value === 'string' ? value : '';
}

/** The texts of a stored list, none when it is absent. */
export function textsOf(object: StoredObject, field: string): readonly string[] {
  const value = object.spec[field];
  return Array.isArray(value) ? value.map(String) : [];
}

/** A text that the server chose, `undefined` when there is none. */
export function derivedText(object: StoredObject, name: string): string | undefined {
  const value = object.derived[name];
  return typeof value === 'string' ? value : undefined;
}

/** A nested object of a stored spec, empty when it is absent. */
export function sectionOf(object: StoredObject, field: string): JsonObject {
  const value = object.spec[field];
  // Stored specs are JSON, so what is an object in one is a JSON object.
  return isObject(value) ? (value as JsonObject) : {};
}
