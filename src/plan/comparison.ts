import type { Json, JsonObject } from '../lib/json.ts';
import { emptyEnvironment, type PlanEnvironment } from '../model/declare/plan-environment.ts';
import type { Fields } from '../model/schema/field.ts';
import { mapSecrets, mapUnitSecrets, placeOf, type SecretPath } from '../model/schema/secret-fields.ts';

/**
 * Values as digests compare them: instead of a secret what is equal for equal ones, because a sealed text is another one
 * for every object.
 */
export interface Comparison {
  spec(fields: Fields, object: string, spec: JsonObject): JsonObject;
  unit(fields: Fields, object: string, path: string, value: Json): Json;
}

/** Compares values of the objects of one account. */
export function createComparison(
  account: string,
  { vault }: Pick<PlanEnvironment, 'vault'> = emptyEnvironment,
): Comparison {
  const by = (object: string) => (text: string, path: SecretPath) =>
    // A text that is not sealed does not open, and has the fingerprint of the same text sealed.
    vault.fingerprint(text, placeOf(account, object, path));
  return {
    spec: (fields, object, spec) => mapSecrets(fields, spec, by(object)),
    unit: (fields, object, path, value) => mapUnitSecrets(fields, path, value, by(object)),
  };
}
