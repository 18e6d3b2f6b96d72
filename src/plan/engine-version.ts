import { sha256 } from '../lib/node-pure.ts';
import type { Registry } from '../model/declare/registry.ts';

/** Raised when the planner comes to do something else with the same input, a digest to mean something else, or a plan to be kept in another form. */
const planner = 4;

const known = new WeakMap<Registry, string>();

/** Names what plans depend on beside their input: the planner, and what the kinds declare. Plans of another one are re-created. */
export function engineVersionOf(registry: Registry): string {
  const present = known.get(registry);
  if (present !== undefined) return present;
  const kinds = registry.kinds.map(({ name, spec, document, singleton, parent }) => ({
    name,
    spec,
    document,
    singleton,
    parent,
  }));
  const version = `${planner}.${sha256(JSON.stringify(kinds, declaredOnly)).slice(0, 16)}`;
  known.set(registry, version);
  return version;
}

/** Declarations without their prose; a function has nothing to compare. */
function declaredOnly(member: string, value: unknown): unknown {
  if (member === 'doc' || typeof value === 'function') return undefined;
  return value instanceof RegExp ? value.source : value;
}
