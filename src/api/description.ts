import type { JsonObject } from '../lib/json.ts';
import type { Registry } from '../model/declare/registry.ts';
import type { Edition } from '../model/edition.ts';
import { lowerToOpenApi } from '../model/lower/openapi/openapi.ts';
import { pathsOf, schemasOf } from '../model/operation/openapi.ts';
import type { Operation } from '../model/operation/operation.ts';
import { areas } from './area-routes.ts';
import { routeOf } from './operations/route.ts';

/** Every operation that is declared beside those of kinds. */
const declared: readonly Operation[] = areas.flatMap(({ operations }) => operations);

/** The declared operations that want no credentials of an account, by method and route, with what guards each. */
export const openOperations: Readonly<Record<string, string>> = Object.fromEntries(
  declared.flatMap(({ access, method, path }) =>
    typeof access === 'object' && 'open' in access ? [[`${method} ${routeOf(path)}`, access.open]] : [],
  ),
);

/** The OpenAPI document of the whole interface: kinds, and every operation beside theirs. */
export function describeApi(
  registry: Registry,
  { version, edition }: { readonly version: string; readonly edition: Edition },
): JsonObject {
  const offered = declared.filter((operation) => operation.edition === undefined || operation.edition === edition);
  return lowerToOpenApi(registry, {
    ...{ version, edition },
    extraPaths: pathsOf(offered),
    extraSchemas: schemasOf(offered),
  });
}
