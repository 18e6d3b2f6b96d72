import type { JsonObject } from '../lib/json.ts';
import type { Registry } from '../model/declare/registry.ts';
import type { Edition } from '../model/edition.ts';
import { lowerToOpenApi } from '../model/lower/openapi/openapi.ts';
import { type AreaRoutes, areas } from './area-routes.ts';

/** The OpenAPI document of the whole interface: kinds, and every operation beside theirs. */
export function describeApi(
  registry: Registry,
  { version, edition }: { readonly version: string; readonly edition: Edition },
): JsonObject {
  const offered = areas.filter((area) => area.edition === undefined || area.edition === edition);
  return lowerToOpenApi(registry, {
    ...{ version, edition },
    extraPaths: pathsOf(offered),
    extraSchemas: Object.assign({}, ...offered.map(({ schemas }) => schemas ?? {})),
  });
}

/** Several areas may have operations at one path. */
function pathsOf(offered: readonly AreaRoutes[]): JsonObject {
  const paths: Record<string, JsonObject> = {};
  for (const area of offered)
    for (const [path, item] of Object.entries(area.paths)) paths[path] = { ...paths[path], ...(item as JsonObject) };
  return paths;
}
