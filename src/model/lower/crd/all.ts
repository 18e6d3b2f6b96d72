import type { JsonObject } from '../../../lib/json.ts';
import type { Registry } from '../../declare/registry.ts';
import { lowerToCrd } from './crd.ts';
import { pluralOf } from './names.ts';
import { planDefinition } from './plan-resource.ts';
import { sourceDefinition } from './source-resource.ts';

/**
 * Returns all CustomResourceDefinitions, by plural: one for each kind that has documents, and those of the server's own
 * resources.
 */
export function allDefinitions(registry: Registry): ReadonlyMap<string, JsonObject> {
  const kinds = registry.kinds.filter((kind) => kind.document.allowed);
  return new Map([
    ...kinds.map((kind) => [pluralOf(kind.name), lowerToCrd(registry, kind)] as const),
    [pluralOf('Source'), sourceDefinition],
    [pluralOf('Plan'), planDefinition],
  ]);
}
