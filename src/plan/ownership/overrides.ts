import type { Fields } from '../../model/schema/field.ts';
import type { Declaration, Override, StoredObject } from '../../model/state/object.ts';
import { unitsOf } from '../../model/state/units.ts';
import { exclusiveFields, fieldOf } from './membership.ts';

/** Whether an override holds at a moment. At its very end it does not any more. */
export function isLive(override: Override, now: string): boolean {
  return override.until > now;
}

/** The override that holds a unit at a moment, if one does. */
export function liveOverride(
  overrides: readonly Override[] | undefined,
  path: string,
  now: string,
): Override | undefined {
  return overrides?.find((override) => override.path === path && isLive(override, now));
}

/** Until when, by whom and why, for sentences. */
export function describeOverride({ until, by, reason }: Override): string {
  return `until ${until} by ${by.name} (${reason})`;
}

/** The member of an object for its overrides: absent when there are none, else in the order of their paths. */
export function overridesMember(overrides: readonly Override[]): { readonly overrides?: readonly Override[] } {
  if (overrides.length === 0) return {};
  return { overrides: [...overrides].sort((a, b) => (a.path < b.path ? -1 : 1)) };
}

/** The overrides that go on when only these declarations are left: a unit without a stated value needs none. */
export function statedOverrides(
  fields: Fields,
  { overrides = [] }: StoredObject,
  declared: readonly Declaration[],
): readonly Override[] {
  if (overrides.length === 0) return overrides;
  const stated = new Set(declared.flatMap((declaration) => [...unitsOf(fields, declaration.stated).keys()]));
  const exclusive = new Set(declared.flatMap((declaration) => exclusiveFields(fields, declaration)));
  return overrides.filter(({ path }) => stated.has(path) || exclusive.has(fieldOf(path)));
}
