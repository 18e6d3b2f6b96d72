import { isObject, type Json, type JsonObject } from '../../lib/json.ts';
import type { Computed, State } from '../../model/declare/kind.ts';
import type { Stored } from '../../model/state/stored.ts';
import { groupSummary } from '../shared/group-summary.ts';
import { groupsOf } from '../shared/membership.ts';
import { neverTimestamp } from '../shared/times.ts';

const localFlags = [
  'quantum_safe_enabled',
  'quantum_safe_permissive',
  'server_ssh_allowed',
  'remote_jobs_allowed',
  'disable_client_routes',
  'disable_server_routes',
  'disable_dns',
  'disable_firewall',
  'block_lan_access',
  'block_inbound',
  'lazy_connection_enabled',
];

const textFacts = {
  connection_ip: 'The public address from which it is connected.',
  os: 'Its operating system, with the version.',
  kernel_version: 'The version of its kernel.',
  version: 'The version of its client.',
  ui_version: 'The version of its user interface.',
  country_code: 'Two-letter code of the country where it is.',
  city_name: 'The city where it is.',
  serial_number: 'The serial number of the machine.',
};

const flagFacts = {
  connected: 'Whether it is connected.',
  login_expired: 'Whether its user has to sign in again before it connects.',
};

const timeFacts = {
  last_seen: 'When it was last connected; `0001-01-01T00:00:00Z` if never.',
  last_login: 'When its user last signed in on it; `0001-01-01T00:00:00Z` if never.',
};

/** Computed members with facts that peers and their connections report. Empty, false or zero while unknown. */
export const facts: Readonly<Record<string, Computed<Stored<'Peer'>>>> = {
  ...computedFromFacts(textFacts, { type: 'string' }, ''),
  ...computedFromFacts(flagFacts, { type: 'boolean' }, false),
  ...computedFromFacts(timeFacts, { type: 'string', format: 'date-time' }, neverTimestamp),
  created_at: {
    doc: 'When the peer enrolled.',
    schema: { type: 'string', format: 'date-time' },
    value: (object) => object.derived.created_at ?? object.createdAt,
  },
  network_addresses: {
    doc: 'The addresses of its network interfaces.',
    schema: {
      type: 'array',
      items: {
        type: 'object',
        required: ['net_ip', 'mac'],
        properties: { net_ip: { type: 'string' }, mac: { type: 'string' } },
      },
    },
    value: addressesOf,
  },
  geoname_id: {
    doc: 'GeoNames id of its location; 0 if unknown.',
    schema: { type: 'integer' },
    value: (object, state) => Number(readFact(object, state, 'geoname_id') ?? 0),
  },
  groups: {
    doc: 'Groups that contain the peer.',
    schema: { type: 'array', items: { $ref: '#/components/schemas/GroupSummary' } },
    value: (object, state) => groupsOf(object, state).map((group) => groupSummary(group, state)),
  },
  disapproval_reason: {
    doc: 'Reason why an administrator or endpoint security did not approve it.',
    schema: { type: 'string' },
    optional: true,
    value: (object, state) => {
      const waits = object.spec.approval_required === true ? object.derived.disapproval_reason : undefined;
      return waits ?? state.disapproval?.(object.id);
    },
  },
  accessible_peers_count: {
    doc: 'Number of peers to which it may open a connection.',
    schema: { type: 'integer' },
    countsAccess: true,
    value: ({ id }, state) => state.countAccessible?.(id) ?? 0,
  },
  local_flags: {
    doc: 'Settings that its user switched on or off on the machine.',
    schema: {
      type: 'object',
      required: localFlags,
      properties: Object.fromEntries(localFlags.map((name) => [name, { type: 'boolean' }])),
    },
    value: localFlagsOf,
  },
};

/** Returns the addresses of a peer's network interfaces, empty when they are unknown. */
export function addressesOf(peer: Stored<'Peer'>, state: State): readonly Json[] {
  const addresses = readFact(peer, state, 'network_addresses');
  return Array.isArray(addresses) ? addresses : [];
}

const locationFacts = ['country_code', 'city_name', 'geoname_id'];

/**
 * Returns a fact about a peer. Observed facts take precedence over those recorded at enrolment. A location recorded at
 * enrolment is ignored once the peer has connected from an observed address.
 */
function readFact(peer: Stored<'Peer'>, { observed }: State, name: string): Json | undefined {
  const seen = observed?.(peer.id);
  if (locationFacts.includes(name) && seen?.['connection_ip'] !== undefined) return seen[name];
  return seen?.[name] ?? peer.derived[name];
}

function localFlagsOf(peer: Stored<'Peer'>, state: State): JsonObject {
  const flags = readFact(peer, state, 'local_flags');
  const set = isObject(flags) ? flags : {};
  return Object.fromEntries(localFlags.map((name) => [name, set[name] === true]));
}

/**
 * Returns computed members for facts that are stored under their own names. `unknown` is the value of a missing fact.
 */
function computedFromFacts(docs: Readonly<Record<string, string>>, schema: JsonObject, unknown: Json): typeof facts {
  return Object.fromEntries(
    Object.entries(docs).map(([name, doc]) => [
      name,
      { doc, schema, value: (object: Stored<'Peer'>, state: State) => readFact(object, state, name) ?? unknown },
    ]),
  );
}
