import * as kinds from '../../src/kinds/index.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import type { Fault } from '../../src/model/declare/kind.ts';
import { createRegistry } from '../../src/model/declare/registry.ts';
import { canonicalSpec } from '../../src/model/schema/normalize.ts';
import { contentFromSpec, type MemberOrigins, membersIn } from '../../src/model/state/members.ts';
import type { StoredObject } from '../../src/model/state/object.ts';
import { emptySnapshot, type Snapshot } from '../../src/model/state/snapshot.ts';

export const registry = createRegistry(Object.values(kinds));

/** Returns a stored object with a canonical spec. Tests use its name as its id. */
export function stored(kind: string, id: string, spec: JsonObject, more: Partial<StoredObject> = {}): StoredObject {
  const declared = registry.get(kind);
  const content = contentFromSpec(declared.spec, canonicalSpec(declared, spec).spec);
  return {
    id,
    kind,
    name: String(content.spec[declared.nameField] ?? ''),
    ...content,
    derived: {},
    protected: false,
    createdRevision: 1,
    updatedRevision: 1,
    createdAt: '2026-01-02T03:04:05Z',
    updatedAt: '2026-01-02T03:04:05Z',
    declared: [],
    ...more,
  };
}

/** Returns the object with exactly these peers. `peers` has the origins of each membership, by peer id. */
export function withPeers<O extends StoredObject>(object: O, peers: Readonly<Record<string, MemberOrigins>>): O {
  return { ...object, ...contentFromSpec(registry.get(object.kind).spec, { ...object.spec, peers }) };
}

/** Returns the peers of a group with the origins of their membership. */
export function peersIn(object: StoredObject | undefined): unknown {
  return Object.fromEntries(membersIn(object, 'peers'));
}

export function peer(id: string, ip = '100.72.0.1'): StoredObject {
  return stored('Peer', id, { name: `Peer ${id}`, dns_label: id, ip }, { key: id });
}

export function group(id: string, peers: readonly string[] = [], more: Partial<StoredObject> = {}): StoredObject {
  return stored('Group', id, { name: id, peers }, more);
}

export const all = group('All', [], { derived: { issued: 'api', system: 'all' } });

export function account(settings: JsonObject = {}): StoredObject {
  return stored('Account', 'acc', { settings });
}

export function stateOf(...objects: readonly StoredObject[]): Snapshot {
  return emptySnapshot(registry, 'acc').with({ put: objects, remove: [] });
}

/**
 * Returns the faults of a spec on its own, as `code path`: first the faults of normalization, then those of the kind's
 * rules.
 */
export function faultsOf(kind: string, spec: JsonObject): readonly string[] {
  const declared = registry.get(kind);
  const canonical = canonicalSpec(declared, spec);
  return texts([...canonical.faults, ...(declared.check?.(canonical.spec as never) ?? [])]);
}

/** Returns the faults of an object in a state with these other objects. */
export function stateFaultsOf(object: StoredObject, ...others: readonly StoredObject[]): readonly Fault[] {
  return registry.get(object.kind).checkState?.(object, stateOf(object, ...others)) ?? [];
}

export function texts(faults: readonly Fault[]): readonly string[] {
  return faults.map(({ code, path }) => `${code} ${path}`);
}
