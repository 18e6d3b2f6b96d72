import type { Kind } from '../../model/declare/kind.ts';
import type { Override, StoredObject } from '../../model/state/object.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import { diffUnits } from '../../model/state/units.ts';
import { fieldNameOf, isMember } from '../ownership/membership.ts';
import { isLive, overridesMember } from '../ownership/overrides.ts';
import { managedUnitChanges } from './managed.ts';

/** Request of a permitted caller to override stated values for a limited time. */
export interface BreakGlass {
  readonly by: Override['by'];
  readonly reason: string;
  /** Start of the overrides, in ISO 8601, UTC. */
  readonly since: string;
  readonly until: string;
  /** True: elements added to sets in which sources state elements are removed at the end. Absent: they stay. */
  readonly additions?: true;
}

/**
 * Returns the object after a request, with its new overrides. With `breakGlass`, changed units that sources state are
 * overridden, and live overrides of unchanged units are renewed with the new reason and end, because the request sends
 * their values again. Overrides of all other units that the request changes are removed.
 */
export function settleOverrides(
  state: Snapshot,
  before: StoredObject,
  after: StoredObject,
  breakGlass: BreakGlass | undefined,
): StoredObject {
  const { overrides = [] } = before;
  if (breakGlass === undefined && overrides.length === 0) return after;
  const kind = state.registry.get(after.kind);
  const changed = new Set(diffUnits(kind.spec, before, after).map(({ path }) => path));
  const kept = overrides.filter(({ path }) => !changed.has(path));
  const next =
    breakGlass === undefined
      ? kept
      : [...prolongOverrides(kept, breakGlass), ...requestedOverrides(state, before, after, breakGlass)];
  if (next.length === overrides.length && next.every((override) => overrides.includes(override))) return after;
  const { overrides: _, ...rest } = after;
  return { ...rest, ...overridesMember(next) };
}

function prolongOverrides(overrides: readonly Override[], breakGlass: BreakGlass): readonly Override[] {
  return overrides.map((override) =>
    isLive(override, breakGlass.since) ? overrideOf(override.path, breakGlass) : override,
  );
}

function requestedOverrides(
  state: Snapshot,
  before: StoredObject,
  after: StoredObject,
  breakGlass: BreakGlass,
): readonly Override[] {
  const kind = state.registry.get(after.kind);
  const held = managedUnitChanges(state, kind, before, after).map(({ path }) => path);
  const added = breakGlass.additions === true ? addedElements(kind, before, after) : [];
  return [...new Set([...held, ...added])].map((path) => overrideOf(path, breakGlass));
}

/**
 * Returns the elements added to sets in which a source states elements. Members are left out, because each has its own
 * origin.
 */
function addedElements({ spec: fields }: Kind, before: StoredObject, after: StoredObject): readonly string[] {
  return diffUnits(fields, before, after)
    .filter(({ path, before: was }) => was === undefined && path.endsWith(']') && !isMember(fields, path))
    .map(({ path }) => path)
    .filter((path) => before.declared.some(({ stated }) => fieldNameOf(path) in stated));
}

function overrideOf(path: string, { by, reason, since, until }: BreakGlass): Override {
  return { path, by, reason, since, until };
}
