import { compileAccess } from '../../src/access/ruleset/compile.ts';
import type { PeerFacts } from '../../src/access/ruleset/facts.ts';
import { noVerdicts } from '../../src/access/ruleset/verdicts.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import type { StoredObject } from '../../src/model/state/object.ts';
import { all, group, peer, stateOf, stored } from '../kinds/objects.ts';

/** Returns a policy with one rule `main` that accepts TCP; `rule` adds its ends or overrides its members. */
export function policy(id: string, rule: JsonObject, more: JsonObject = {}): StoredObject {
  const main = { name: 'main', enabled: true, action: 'accept', bidirectional: false, protocol: 'tcp', ...rule };
  return stored('Policy', id, { name: id, enabled: true, rules: [main], ...more });
}

/** Returns a reference to one peer, for use instead of groups. */
export function only(id: string): JsonObject {
  return { id, type: 'peer' };
}

const gateway = { metric: 100, masquerade: true, enabled: true };

/** Two laptops of developers, a database, a gateway to the office and its file server, and a route to the internet. */
const office: readonly StoredObject[] = [
  all,
  peer('ana', '100.64.0.1'),
  peer('ben', '100.64.0.2'),
  peer('db', '100.64.0.3'),
  peer('gw', '100.64.0.4'),
  group('developers', ['ana', 'ben']),
  group('databases', ['db']),
  group('gateways', ['gw']),
  group('contractors'),
  group('files'),
  stored('Network', 'net', { name: 'Office' }),
  stored(
    'NetworkResource',
    'server',
    { network: 'net', name: 'server', address: '10.20.0.10', enabled: true, groups: ['files'] },
    { parent: 'net' },
  ),
  stored('NetworkRouter', 'router', { network: 'net', peer_groups: ['gateways'], ...gateway }, { parent: 'net' }),
  stored('Route', 'exit', {
    network_id: 'internet',
    description: '',
    network: '0.0.0.0/0',
    peer: 'gw',
    groups: ['developers'],
    keep_route: false,
    ...gateway,
  }),
  stored('PostureCheck', 'recent', {
    name: 'recent',
    description: '',
    checks: { client_version_check: { min_version: '1.4' } },
  }),
];

/** Returns the objects of the office and these objects, which replace those with the same id. */
export function officeWith(...more: readonly StoredObject[]): readonly StoredObject[] {
  const ids = new Set(more.map(({ id }) => id));
  return [...office.filter(({ id }) => !ids.has(id)), ...more];
}

/** Compiles the access of these objects, with the given facts about peers. */
export function accessOf(
  objects: readonly StoredObject[],
  facts: Readonly<Record<string, PeerFacts>> = {},
  verdicts = noVerdicts,
) {
  return compileAccess(stateOf(...objects), {
    facts: new Map(Object.entries(facts)),
    waiting: new Set(),
    expired: new Set(),
    offline: new Set(),
    verdicts,
  });
}
