import { expect, it } from 'vitest';
import { productRegistry } from '../../src/app.ts';
import type { Fields } from '../../src/model/schema/field.ts';
import { entriesOf } from '../../src/model/schema/field-search.ts';
import { holders } from './secret-holders.ts';

/** Returns the paths of the secrets that are never shown, according to the declarations of the kind. */
function declaredSecrets(fields: Fields, prefix = ''): readonly string[] {
  return entriesOf(fields).flatMap(([name, field]): readonly string[] => {
    const path = `${prefix}${name}`;
    if (field.type === 'secret') return field.read === 'shown' ? [] : [path];
    if (field.type === 'object' || field.type === 'keyed') return declaredSecrets(field.fields, `${path}.`);
    if (field.type === 'list' && field.of.type === 'object') return declaredSecrets(field.of.fields, `${path}.`);
    if (field.type !== 'map') return [];
    return field.of.type === 'secret' ? [`${path}.*`] : declaredSecrets(field.secrets ?? {}, `${path}.`);
  });
}

it('every secret field of every kind is covered by this test', () => {
  const known = productRegistry().kinds.flatMap((kind) =>
    declaredSecrets(kind.spec).map((path) => `${kind.name} ${path}`),
  );
  const planted = Object.entries(holders).flatMap(([name, { secretPaths }]) =>
    secretPaths.map((path) => `${name.split(' ')[0]} ${path}`),
  );
  expect([...planted].sort()).toEqual([...known].sort());
});
