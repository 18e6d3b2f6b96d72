/**
 * The second door between stored objects and access: what maps tell about peers, names and the account besides who reaches
 * whom. Each object is read and written once, as long as it lives.
 */
import { isObject, type JsonObject } from '../../lib/json.ts';
import type { State } from '../../model/kind.ts';
import type { StoredObject } from '../../model/object.ts';
import { peerDomainOf } from '../../model/peer-domain.ts';
import { once, partReader } from '../readers.ts';
import { type Entry, writeEntry } from './section.ts';

/** What maps are made of besides the parts of access, and the kind that each part is stored as. */
export const mapKindOf = {
  account: 'Account',
  zone: 'DNSZone',
  record: 'DNSRecord',
  nameservers: 'NameserverGroup',
  dns: 'DNSSettings',
  user: 'User',
} as const;

/** Which part of maps an object is, `undefined` when it is none. */
export const mapPartOf = partReader(mapKindOf);

/** The settings of an account that clients follow, and the domain below which its peers have their names. */
export interface ClientSettings {
  readonly domain: string;
  readonly entry: Entry;
  readonly logged: { readonly enabled: boolean; readonly groups: readonly string[] };
  readonly exposing: { readonly enabled: boolean; readonly groups: readonly string[] };
  readonly ranges: readonly string[];
}

/** Reads the settings of the account. */
export function readSettings(state: State): ClientSettings {
  const [account] = state.ofKind(mapKindOf.account);
  return account === undefined ? absentSettings : settingsOf(account);
}

const settingsOf = once(
  (account): ClientSettings => writeSettings(peerDomainOf(account), section(account.spec['settings'])),
);
const absentSettings = writeSettings(peerDomainOf(undefined), {});

function writeSettings(domain: string, settings: JsonObject): ClientSettings {
  const extra = section(settings['extra']);
  const flag = (name: string) => settings[name] === true;
  const told = {
    dns_domain: domain,
    lazy_connection_enabled: flag('lazy_connection_enabled'),
    auto_update_version: settings['auto_update_version'] ?? 'disabled',
    routing_peer_dns_resolution_enabled: flag('routing_peer_dns_resolution_enabled'),
    login_expiration: flag('peer_login_expiration_enabled') ? settings['peer_login_expiration'] : null,
    inactivity_expiration: flag('peer_inactivity_expiration_enabled') ? settings['peer_inactivity_expiration'] : null,
    traffic_packet_counter_enabled: extra['network_traffic_packet_counter_enabled'] === true,
  };
  return {
    domain,
    entry: writeEntry('settings', told),
    logged: {
      enabled: extra['network_traffic_logs_enabled'] === true,
      groups: texts(extra['network_traffic_logs_groups']),
    },
    exposing: { enabled: flag('peer_expose_enabled'), groups: texts(settings['peer_expose_groups']) },
    ranges: texts([settings['network_range'], settings['network_range_v6']]).filter((range) => range.includes('/')),
  };
}

/** What a peer is told about itself and what others are told about it. */
export interface PeerText {
  readonly entry: Entry;
  readonly self: JsonObject;
}

/** Whether the user of a peer has to sign in again. */
export function isExpired({ derived }: StoredObject): boolean {
  return derived['login_expired'] === true;
}

const peerTexts = new WeakMap<StoredObject, { readonly domain: string; readonly text: PeerText }>();

/** Writes a peer, under a domain. */
export function writePeer(peer: StoredObject, domain: string): PeerText {
  const known = peerTexts.get(peer);
  if (known?.domain === domain) return known.text;
  const { spec } = peer;
  const full = (label: string) => `${label}.${domain}`;
  const addresses = texts([spec['ip'], spec['ipv6']]).filter((address) => address !== '');
  const common = {
    id: peer.id,
    name: peer.name,
    dns_label: spec['dns_label'] ? full(String(spec['dns_label'])) : '',
    extra_dns_labels: texts(spec['extra_dns_labels']).map(full),
    public_key: spec['wg_pub_key'] ?? '',
    allowed_ips: addresses.map((address) => `${address}/${address.includes(':') ? 128 : 32}`),
    user_id: spec['user_id'] ?? '',
  };
  const text = {
    entry: writeEntry(peer.id, common),
    self: { ...common, ssh_enabled: spec['ssh_enabled'] === true },
  };
  peerTexts.set(peer, { domain, text });
  return text;
}

/** Something of DNS that is meant for the peers of groups. */
export interface Distributed {
  readonly object: StoredObject;
  readonly entry: Entry;
  readonly groups: readonly string[];
  /** Domains with which short names are completed. */
  readonly search: readonly string[];
}

const zoneTexts = new WeakMap<
  StoredObject,
  { readonly records: readonly StoredObject[]; readonly zone: Distributed }
>();

/** The zones that are enabled, with their records. */
export function readZones(state: State): readonly Distributed[] {
  return state.ofKind(mapKindOf.zone).flatMap((object) => {
    if (object.spec['enabled'] !== true) return [];
    const records = state.childrenOf(object.id, mapKindOf.record);
    const known = zoneTexts.get(object);
    if (known !== undefined && sameList(known.records, records)) return [known.zone];
    const zone = writeZone(object, records);
    zoneTexts.set(object, { records, zone });
    return [zone];
  });
}

function writeZone(object: StoredObject, records: readonly StoredObject[]): Distributed {
  const { spec, id } = object;
  const domain = String(spec['domain']);
  const answers = records.map(({ spec: { name, type, content, ttl } }) => ({ name, type, content, ttl }));
  return {
    object,
    entry: writeEntry(id, { id, domain, records: answers }),
    groups: texts(spec['distribution_groups']),
    search: spec['enable_search_domain'] === true ? [domain] : [],
  };
}

/** The nameserver groups that are enabled. */
export function readNameservers(state: State): readonly Distributed[] {
  return state
    .ofKind(mapKindOf.nameservers)
    .filter(({ spec }) => spec['enabled'] === true)
    .map(writeNameservers);
}

const writeNameservers = once((object): Distributed => {
  const { spec, id, name } = object;
  const domains = texts(spec['domains']);
  const { nameservers, primary } = spec;
  return {
    object,
    entry: writeEntry(id, { id, name, nameservers: nameservers ?? [], primary: primary === true, domains }),
    groups: texts(spec['groups']),
    search: spec['search_domains_enabled'] === true ? domains : [],
  };
});

/** Groups whose peers keep the DNS configuration of their machine. */
export function readUnmanaged(state: State): readonly string[] {
  return state.ofKind(mapKindOf.dns).flatMap(({ spec }) => texts(spec['disabled_management_groups']));
}

/** Users who are in a group by what they are given, and are let in; in order. */
export function usersOf(group: string, state: State): readonly string[] {
  return state
    .referrersOf(group)
    .filter(
      ({ from, field }) => field === 'auto_groups' && mapPartOf(from) === 'user' && from.spec['is_blocked'] !== true,
    )
    .map(({ from }) => from.id);
}

function sameList(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((item, at) => item === b[at]);
}

function section(value: unknown): JsonObject {
  // Stored specs are JSON, so what is an object in one is a JSON object.
  return isObject(value) ? (value as JsonObject) : {};
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
