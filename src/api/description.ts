import type { JsonObject } from '../lib/json.ts';
import type { Registry } from '../model/declare/registry.ts';
import type { Edition } from '../model/edition.ts';
import { lowerToOpenApi } from '../model/lower/openapi/openapi.ts';
import { pathsOf, schemasOf } from '../model/operation/openapi.ts';
import type { Operation } from '../model/operation/operation.ts';
import type { Profile } from '../model/profile.ts';
import { areas } from './area-routes.ts';
import { routeOf } from './operations/route.ts';
import { describeTheirs } from './profile/describe.ts';

/** Every operation that is declared beside those of kinds. */
const declared: readonly Operation[] = areas.flatMap(({ operations }) => operations);

/** The declared operations that want no credentials of an account, by method and route, with what guards each. */
export const openOperations: Readonly<Record<string, string>> = Object.fromEntries(
  declared.flatMap(({ access, method, path }) =>
    typeof access === 'object' && 'open' in access ? [[`${method} ${routeOf(path)}`, access.open]] : [],
  ),
);

/** What a description is of, beside the kinds. */
interface Described {
  readonly version: string;
  readonly edition: Edition;
  /** Absent: as it is specified. */
  readonly profile?: Profile;
}

/** By kinds: to write one takes 30 ms. */
const descriptions = new WeakMap<Registry['kinds'], Map<string, JsonObject>>();

/** The OpenAPI document of the whole interface: kinds, and every operation beside theirs. */
export function describeApi(registry: Registry, described: Described): JsonObject {
  const known = descriptions.get(registry.kinds) ?? new Map<string, JsonObject>();
  descriptions.set(registry.kinds, known);
  const name = `${described.edition} ${described.version} ${described.profile ?? 'specification'}`;
  const description = known.get(name) ?? writeDescription(registry, described);
  known.set(name, description);
  return description;
}

function writeDescription(registry: Registry, { version, edition, profile = 'specification' }: Described): JsonObject {
  const offered = declared.filter((operation) => (operation.edition ?? edition) === edition);
  const own = offered.filter((operation) => (operation.profile ?? profile) === profile);
  const description = lowerToOpenApi(registry, {
    ...{ version, edition },
    extraPaths: pathsOf(own),
    extraSchemas: schemasOf(own),
  });
  return profile === 'compatible' ? describeTheirs(description) : description;
}
