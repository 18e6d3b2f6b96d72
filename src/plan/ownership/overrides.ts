import type { Fields } from '../../model/schema/field.ts';
import type { Content } from '../../model/state/members.ts';
import type { Declaration, Override, StoredObject } from '../../model/state/object.ts';
import { applyUnits, unitsOf } from '../../model/state/units.ts';
import { exclusiveFields, fieldNameOf, isMember } from './membership.ts';

/** Whether an override is in effect at a time. At its end time it is no longer in effect. */
export function isLive(override: Override, now: string): boolean {
  return override.until > now;
}

/** Returns the override of a unit that is in effect at a time. */
export function liveOverride(
  overrides: readonly Override[] | undefined,
  path: string,
  now: string,
): Override | undefined {
  return overrides?.find((override) => override.path === path && isLive(override, now));
}

/** Returns the end, the user and the reason of an override, for use in a sentence. */
export function describeOverride({ until, by, reason }: Override): string {
  return `until ${until} by ${by.name} (${reason})`;
}

/** Returns the `overrides` member of an object: absent when there are none, else ordered by path. */
export function overridesMember(overrides: readonly Override[]): { readonly overrides?: readonly Override[] } {
  if (overrides.length === 0) return {};
  return { overrides: [...overrides].sort((a, b) => (a.path < b.path ? -1 : 1)) };
}

/**
 * Returns the overrides that remain when only these declarations are left. A unit without a stated value needs no
 * override.
 */
export function remainingOverrides(
  fields: Fields,
  { overrides = [] }: StoredObject,
  declared: readonly Declaration[],
): readonly Override[] {
  if (overrides.length === 0) return overrides;
  const stated = new Set(declared.flatMap((declaration) => [...unitsOf(fields, declaration.stated).keys()]));
  const exclusive = new Set(declared.flatMap((declaration) => exclusiveFields(fields, declaration)));
  return overrides.filter(({ path }) => stated.has(path) || exclusive.has(fieldNameOf(path)));
}

/** Returns the content of an object with stated values instead of overridden values. Members are left unchanged. */
export function withoutOverrides(fields: Fields, object: StoredObject): Content {
  const { overrides = [], declared } = object;
  const changes = overrides.flatMap(({ path }) => {
    const stated = declared.map((declaration) => unitsOf(fields, declaration.stated).get(path));
    const value = stated.find((item) => item !== undefined);
    return value === undefined || isMember(fields, path) ? [] : [{ path, after: value }];
  });
  return applyUnits(fields, object, changes);
}
