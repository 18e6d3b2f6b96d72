/**
 * Reads stored objects for maps: whatever maps contain about peers, names and the account in addition to access. Each
 * object is read and written once, and cached for as long as it lives.
 */
import type { JsonObject } from '../../lib/json.ts';
import type { State } from '../../model/declare/kind.ts';
import { peerDomainOf } from '../../model/declare/peer-domain.ts';
import type { StoredObject } from '../../model/state/object.ts';
import { isOfKind, type Stored } from '../../model/state/stored.ts';
import { cachedReader, typeReader } from '../ruleset/cached-readers.ts';
import { type Entry, writeEntry } from './section.ts';

/** Kinds that maps depend on in addition to the kinds of access (`kindOf`), by part. */
export const mapKindOf = {
  account: 'Account',
  zone: 'DNSZone',
  record: 'DNSRecord',
  nameservers: 'NameserverGroup',
  dns: 'DNSSettings',
  user: 'User',
} as const;

/** Returns which part of maps an object is, or `undefined` when maps do not depend on its kind. */
export const mapTypeOf = typeReader(mapKindOf);

/** Account settings that clients follow, and the domain that contains the names of its peers. */
export interface ClientSettings {
  readonly domain: string;
  readonly entry: Entry;
  readonly trafficLogging: { readonly enabled: boolean; readonly groups: readonly string[] };
  readonly exposing: { readonly enabled: boolean; readonly groups: readonly string[] };
  readonly ranges: readonly string[];
}

/** Returns the client settings of the account, or defaults when the state has no account object. */
export function readSettings(state: State): ClientSettings {
  const [account] = state.ofKind(mapKindOf.account);
  return account === undefined ? defaultSettings : settingsOf(account);
}

const settingsOf = cachedReader(
  mapKindOf.account,
  (account): ClientSettings => writeSettings(peerDomainOf(account), account.spec.settings ?? {}),
);
const defaultSettings = writeSettings(peerDomainOf(undefined), {});

type Settings = NonNullable<Stored<'Account'>['spec']['settings']>;

function writeSettings(domain: string, settings: Settings): ClientSettings {
  const extra = settings.extra ?? {};
  const content = {
    dns_domain: domain,
    lazy_connection_enabled: settings.lazy_connection_enabled === true,
    auto_update_version: settings.auto_update_version ?? 'disabled',
    routing_peer_dns_resolution_enabled: settings.routing_peer_dns_resolution_enabled === true,
    login_expiration: settings.peer_login_expiration_enabled === true ? settings.peer_login_expiration : null,
    inactivity_expiration:
      settings.peer_inactivity_expiration_enabled === true ? settings.peer_inactivity_expiration : null,
    traffic_packet_counter_enabled: extra.network_traffic_packet_counter_enabled === true,
  };
  return {
    domain,
    entry: writeEntry('settings', content),
    trafficLogging: {
      enabled: extra.network_traffic_logs_enabled === true,
      groups: extra.network_traffic_logs_groups ?? [],
    },
    exposing: { enabled: settings.peer_expose_enabled === true, groups: settings.peer_expose_groups ?? [] },
    ranges: [settings.network_range ?? '', settings.network_range_v6 ?? ''].filter((range) => range.includes('/')),
  };
}

/** A peer as its own map lists it (`self`), and as other maps list it (`entry`). */
export interface WrittenPeer {
  readonly entry: Entry;
  readonly self: JsonObject;
}

/** Whether the user of a peer has to sign in again. */
export function isExpired({ derived }: Stored<'Peer'>): boolean {
  return derived.login_expired === true;
}

const peerTexts = new WeakMap<StoredObject, { readonly domain: string; readonly text: WrittenPeer }>();

/** Writes a peer or a proxy with its DNS names below `domain`. Cached per object and domain. */
export function writePeer(peer: Stored<'Peer'> | Stored<'ProxyPeer'>, domain: string): WrittenPeer {
  const known = peerTexts.get(peer);
  if (known?.domain === domain) return known.text;
  const spec: Stored<'Peer'>['spec'] = isOfKind(peer, 'Peer') ? peer.spec : peerSpecOfProxy(peer);
  const full = (label: string) => `${label}.${domain}`;
  const addresses = [spec.ip ?? '', spec.ipv6 ?? ''].filter((address) => address !== '');
  const common = {
    id: peer.id,
    name: peer.name,
    dns_label: spec.dns_label ? full(spec.dns_label) : '',
    extra_dns_labels: (spec.extra_dns_labels ?? []).map(full),
    public_key: spec.wg_pub_key ?? '',
    allowed_ips: addresses.map((address) => `${address}/${address.includes(':') ? 128 : 32}`),
    user_id: spec.user_id ?? '',
  };
  const text = {
    entry: writeEntry(peer.id, common),
    self: { ...common, ssh_enabled: spec.ssh_enabled === true },
  };
  peerTexts.set(peer, { domain, text });
  return text;
}

/** Returns the members of a proxy's spec that a peer has too. */
function peerSpecOfProxy({ spec: { ip = '', wg_pub_key = '' } }: Stored<'ProxyPeer'>) {
  return { ip, wg_pub_key };
}

/** DNS zone or nameserver group that is distributed to the peers of groups. */
export interface DistributedDns {
  readonly object: StoredObject;
  readonly entry: Entry;
  readonly groups: readonly string[];
  /** Search domains, with which short names are completed. */
  readonly search: readonly string[];
}

const zoneTexts = new WeakMap<
  StoredObject,
  { readonly records: readonly StoredObject[]; readonly zone: DistributedDns }
>();

/** Returns the enabled zones with their records. */
export function readZones(state: State): readonly DistributedDns[] {
  return state.ofKind(mapKindOf.zone).flatMap((object) => {
    if (object.spec.enabled !== true) return [];
    const records = state.childrenOf(object.id, mapKindOf.record);
    const known = zoneTexts.get(object);
    if (known !== undefined && sameList(known.records, records)) return [known.zone];
    const zone = writeZone(object, records);
    zoneTexts.set(object, { records, zone });
    return [zone];
  });
}

function writeZone(object: Stored<'DNSZone'>, records: readonly Stored<'DNSRecord'>[]): DistributedDns {
  const { spec, id } = object;
  const domain = spec.domain ?? '';
  const answers = records.map(({ spec: { name = '', type = '', content = '', ttl = 0 } }) => ({
    name,
    type,
    content,
    ttl,
  }));
  return {
    object,
    entry: writeEntry(id, { id, domain, records: answers }),
    groups: spec.distribution_groups ?? [],
    search: spec.enable_search_domain === true ? [domain] : [],
  };
}

/** Returns the enabled nameserver groups. */
export function readNameservers(state: State): readonly DistributedDns[] {
  return state
    .ofKind(mapKindOf.nameservers)
    .filter(({ spec }) => spec.enabled === true)
    .map(writeNameservers);
}

const writeNameservers = cachedReader(mapKindOf.nameservers, (object): DistributedDns => {
  const { spec, id, name } = object;
  const domains = spec.domains ?? [];
  const { nameservers, primary } = spec;
  return {
    object,
    entry: writeEntry(id, { id, name, nameservers: nameservers ?? [], primary: primary === true, domains }),
    groups: spec.groups ?? [],
    search: spec.search_domains_enabled === true ? domains : [],
  };
});

/** Returns the ids of the groups whose peers keep the DNS configuration of their machine. */
export function readUnmanagedGroups(state: State): readonly string[] {
  return state.ofKind(mapKindOf.dns).flatMap(({ spec }) => spec.disabled_management_groups ?? []);
}

/** Returns the ids, sorted, of users with a group among their auto groups. Blocked users are left out. */
export function usersOf(group: string, state: State): readonly string[] {
  return state
    .referrersBy(mapKindOf.user, 'auto_groups', group)
    .filter(({ spec }) => spec.is_blocked !== true)
    .map(({ id }) => id);
}

function sameList(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((item, at) => item === b[at]);
}
