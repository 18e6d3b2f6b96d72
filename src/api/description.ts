import { runInSlices } from '../commit/slices.ts';
import type { JsonObject } from '../lib/json.ts';
import type { Registry } from '../model/declare/registry.ts';
import type { Edition } from '../model/edition.ts';
import { lowerToOpenApiInSteps } from '../model/lower/openapi/openapi.ts';
import { pathsOf, schemasOf } from '../model/operation/openapi.ts';
import type { Operation } from '../model/operation/operation.ts';
import type { Profile } from '../model/profile.ts';
import { areas } from './area-routes.ts';
import { routeOf } from './operations/route.ts';
import { describeProfile } from './profile/describe.ts';

/** All declared operations that do not belong to kinds. */
const declared: readonly Operation[] = areas.flatMap(({ operations }) => operations);

/**
 * Declared operations that need no account credentials, by method and route. The value states what protects the
 * operation.
 */
export const openOperations: Readonly<Record<string, string>> = Object.fromEntries(
  declared.flatMap(({ access, method, path }) =>
    typeof access === 'object' && 'open' in access ? [[`${method} ${routeOf(path)}`, access.open]] : [],
  ),
);

/** Version, edition and profile that are described. */
interface Described {
  readonly version: string;
  readonly edition: Edition;
  /** Absent: the specification. */
  readonly profile?: Profile;
}

/** Returns the OpenAPI document of the interface in a profile. Absent: the specification. */
export type Describe = (profile?: Profile) => Promise<JsonObject>;

/** Cached documents, by the kinds of the registry: writing one takes 50 ms. */
const descriptions = new WeakMap<Registry['kinds'], Map<string, Promise<JsonObject>>>();

/**
 * Returns the OpenAPI document of the whole interface: the operations of kinds and all others. It is written once, in
 * slices.
 */
export function describeApi(registry: Registry, described: Described): Promise<JsonObject> {
  const known = descriptions.get(registry.kinds) ?? new Map<string, Promise<JsonObject>>();
  descriptions.set(registry.kinds, known);
  const name = `${described.edition} ${described.version} ${described.profile ?? 'specification'}`;
  const description = known.get(name) ?? runInSlices(writeDescription(registry, described));
  known.set(name, description);
  return description;
}

function* writeDescription(
  registry: Registry,
  { version, edition, profile = 'specification' }: Described,
): Generator<undefined, JsonObject> {
  const offered = declared.filter((operation) => (operation.edition ?? edition) === edition);
  const own = offered.filter((operation) => (operation.profile ?? profile) === profile);
  const extraPaths = pathsOf(own);
  yield undefined;
  const extraSchemas = schemasOf(own);
  yield undefined;
  const description = yield* lowerToOpenApiInSteps(registry, { version, edition, extraPaths, extraSchemas });
  return profile === 'compatible' ? describeProfile(description) : description;
}
