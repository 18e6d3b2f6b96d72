import { expect, it } from 'vitest';
import { fieldsOn, type Surface } from '../../src/model/lower/shape.ts';
import type { AnyField, Fields } from '../../src/model/schema/field.ts';
import { registry } from './product.ts';

/**
 * Returns the paths of lists and maps in the fields whose number of entries is not limited. Lists of references need no
 * limit, because each referenced object must exist.
 */
function unlimited(fields: Fields, path: string): readonly string[] {
  return Object.entries(fields).flatMap(([name, field]) => unlimitedIn(field, `${path}.${name}`));
}

function unlimitedIn(field: AnyField, path: string): readonly string[] {
  switch (field.type) {
    case 'object':
      return unlimited(field.fields, path);
    case 'keyed':
      return [...(field.maxItems === undefined ? [path] : []), ...unlimited(field.fields, path)];
    case 'list':
    case 'map':
    case 'refMap': {
      const isLimited = field.maxItems !== undefined || field.of.type === 'typedRef';
      return [...(isLimited ? [] : [path]), ...unlimitedIn(field.of, `${path}[]`)];
    }
    default:
      return [];
  }
}

it.each<Surface>(['document', 'request', 'replace'])(
  'every list and map of a %s has a limit of its entries',
  (surface) => {
    expect(registry.kinds.flatMap((kind) => unlimited(fieldsOn(kind, surface), kind.name))).toEqual([]);
  },
);
