import type { Engine } from '../../src/commit/engine.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { mapSecrets, sealContextOf } from '../../src/model/schema/secret-fields.ts';
import type { StoredObject } from '../../src/model/state/object.ts';

/** Returns the stored spec of an object, with its secrets opened. Throws when the object is missing. */
export function openedSpec(
  { registry, planEnvironment }: Pick<Engine, 'registry' | 'planEnvironment'>,
  account: string,
  object: StoredObject | undefined,
): JsonObject {
  if (object === undefined) throw new Error('there is no such object');
  const { kind, id, spec } = object;
  return mapSecrets(registry.get(kind).spec, spec, (text, path) =>
    planEnvironment.vault.open(text, sealContextOf(account, id, path)),
  );
}
