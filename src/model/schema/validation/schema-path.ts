import type { AnyField, Fields } from '../field.ts';

/** Step of a path from a list or map to its entries. No field has this name. */
export const entriesStep = '*';

/** Path of a value in the declarations: field names, and `*` for the entries of a list or map. */
export type SchemaPath = readonly string[];

/**
 * Returns the path of the value that a keyword of a schema refused, from the schema's path, such as
 * `#/properties/rules/items/properties/ports/maxItems`.
 */
export function readSchemaPath(path: string): SchemaPath {
  const words = path.split('/').slice(1, -1);
  const steps: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const isMember = words[at] === 'properties';
    if (isMember) at += 1;
    steps.push(isMember ? (words[at] ?? '') : entriesStep);
  }
  return steps;
}

/** Returns the path of a value in the declarations from its JSON pointer, for a value that is inside of no map. */
export function readPointer(pointer: string): SchemaPath {
  const steps = pointer.split('/').slice(1);
  return steps.map((step) => (/^\d+$/.test(step) ? entriesStep : step));
}

/** Returns the field at a path. `undefined` for values that are not declared as fields. */
export function fieldAt(fields: Fields, [name = '', ...rest]: SchemaPath): AnyField | undefined {
  const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
  return field === undefined ? undefined : fieldInside(field, rest);
}

function fieldInside(field: AnyField, path: SchemaPath): AnyField | undefined {
  const [, ...rest] = path;
  if (path.length === 0) return field;
  switch (field.type) {
    case 'object':
      return fieldAt(field.fields, path);
    case 'keyed':
      return fieldAt(field.fields, rest);
    case 'list':
    case 'map':
    case 'refMap':
      return fieldInside(field.of, rest);
    default:
      return undefined;
  }
}
