import { isObject, type Json, type JsonObject } from '../../src/lib/json.ts';
import type { AnyField, Fields } from '../../src/model/schema/field.ts';
import { entriesOf } from '../../src/model/schema/field-search.ts';

/** An object within an example, and the fields that it may have. */
export interface Container {
  readonly pointer: string;
  readonly fields: Fields;
}

/** A declared field, with its JSON pointer. The example need not have a value there. */
export interface DeclaredField {
  readonly pointer: string;
  readonly container: string;
  readonly name: string;
  readonly field: AnyField;
}

/**
 * Returns every object within an example whose members are declared: the spec itself, nested objects, entries and items
 * of lists.
 */
export function containersOf(fields: Fields, value: Json | undefined, pointer = ''): readonly Container[] {
  if (!isObject(value)) return [];
  const inner = entriesOf(fields).flatMap(([name, field]) =>
    containersIn(field, value[name] as Json | undefined, `${pointer}/${name}`),
  );
  return [{ pointer, fields }, ...inner];
}

function containersIn(field: AnyField, value: Json | undefined, pointer: string): readonly Container[] {
  const items = Array.isArray(value) ? (value as readonly Json[]) : [];
  if (field.type === 'object') return containersOf(field.fields, value, pointer);
  if (field.type === 'keyed') return items.flatMap((item, at) => containersOf(field.fields, item, `${pointer}/${at}`));
  if (field.type === 'list') return items.flatMap((item, at) => containersIn(field.of, item, `${pointer}/${at}`));
  return [];
}

/** Returns every declared field of every container. */
export function declaredFields(containers: readonly Container[]): readonly DeclaredField[] {
  return containers.flatMap(({ pointer, fields }) =>
    entriesOf(fields).map(([name, field]) => ({ pointer: `${pointer}/${name}`, container: pointer, name, field })),
  );
}

/** Returns a copy with another value at a JSON pointer. `undefined` removes the member. */
export function withValue(value: JsonObject, pointer: string, put: Json | undefined): JsonObject {
  const copy = structuredClone(value) as JsonObject;
  const segments = pointer.split('/').slice(1);
  const last = segments.pop() ?? '';
  // The copy is local, so it may be modified.
  const target = segments.reduce<Json>((at, segment) => (at as JsonObject)[segment] as Json, copy) as Record<
    string,
    Json
  >;
  if (put === undefined) delete target[last];
  else target[last] = put;
  return copy;
}
