import type { JsonObject } from '../../lib/json.ts';
import type { Fields } from '../../model/schema/field.ts';
import { hasSecrets } from '../../model/schema/secret-fields.ts';
import type { StoredObject } from '../../model/state/object.ts';
import { applyUnits, unitsOf } from '../../model/state/units.ts';
import { isMember } from './membership.ts';

/**
 * Returns the spec of an object with the secrets that a declaration of the source keeps: those that the source states,
 * else those of other sources, else the present ones. A present secret may differ from the stated one, because of an
 * override or the mode `observe`. A declaration that took it over would combine it with the stated address.
 */
export function specWithStatedSecrets(fields: Fields, object: StoredObject, source: string): JsonObject {
  if (!hasSecrets(fields) || object.declared.length === 0) return object.spec;
  const others = object.declared.filter((declaration) => declaration.source !== source);
  const own = object.declared.filter((declaration) => declaration.source === source);
  const changes = [...others, ...own].flatMap(({ stated }) =>
    [...unitsOf(fields, stated)].flatMap(([path, after]) => (isMember(fields, path) ? [] : [{ path, after }])),
  );
  return applyUnits(fields, object, changes).spec;
}
