import { noObservations, type ObservedPeers, type PeerFacts } from '../../access/ruleset/facts.ts';
import type { ObservedPeersSource } from '../../commit/access-images.ts';
import { isOffline, type PeerStatus, type Presence, type PresenceImage } from '../../commit/presence.ts';
import { isObject, type Json, type JsonObject } from '../../lib/json.ts';

/** Maximum number of accounts whose last observations of peers are remembered. */
const maxAccounts = 1000;

/** Creates the source of the observations of peers that access depends on. */
export function createObservedPeers(presence: Pick<Presence, 'read'>, most = maxAccounts): ObservedPeersSource {
  const known = new WeakMap<ReadonlyMap<string, PeerStatus>, ObservedPeers>();
  const last = new Map<string, ObservedPeers>();
  const factsIn = (account: string, { peers, deciding }: PresenceImage): ObservedPeers => {
    const present = known.get(peers);
    if (present?.verdicts.deciding === deciding) return present;
    const observedPeers = read(peers, deciding, last.get(account));
    known.set(peers, observedPeers);
    last.delete(account);
    last.set(account, observedPeers);
    if (last.size > most) last.delete(last.keys().next().value ?? '');
    return observedPeers;
  };
  return {
    async read(account, hosts = []) {
      const image = await presence.read(account);
      if (image.peers.size === 0 && image.deciding.size === 0) return noObservations;
      return withOffline(factsIn(account, image), image, hosts);
    },
    async verdicts(account) {
      const { peers, deciding } = await presence.read(account);
      return { deciding, problemsByPeer: { get: (peer) => peers.get(peer)?.verdicts } };
    },
  };
}

const offlineVariants = new WeakMap<ObservedPeers, Map<string, ObservedPeers>>();

/** Adds those of the `hosts` that are offline now. Returns the same object for equal content. */
function withOffline(observedPeers: ObservedPeers, { peers, now }: PresenceImage, hosts: readonly string[]) {
  const offline = hosts.filter((id) => isOffline(peers.get(id), now)).sort();
  if (offline.length === 0) return observedPeers;
  const known = offlineVariants.get(observedPeers) ?? new Map<string, ObservedPeers>();
  offlineVariants.set(observedPeers, known);
  const key = offline.join();
  const present = known.get(key) ?? { ...observedPeers, offline: new Set(offline) };
  known.set(key, present);
  return present;
}

const noPeers: ReadonlySet<string> = new Set();

/**
 * Returns the same object as before when nothing changed that access depends on. Connecting and disconnecting does not
 * change access.
 */
function read(
  peers: ReadonlyMap<string, PeerStatus>,
  deciding: ReadonlyMap<string, string>,
  before: ObservedPeers | undefined,
): ObservedPeers {
  const facts = new Map([...peers].flatMap(([id, status]) => (hasFacts(status) ? [[id, cachedFactsOf(status)]] : [])));
  const of = new Map([...peers].flatMap(([id, { verdicts }]) => (verdicts === undefined ? [] : [[id, verdicts]])));
  const isKnown =
    before !== undefined &&
    deciding === before.verdicts.deciding &&
    sameValues(facts, before.facts) &&
    sameValues(of, before.verdicts.problemsByPeer);
  // Peers that wait for an approval, or whose login has expired, are not observed: that is stored in the objects.
  return isKnown
    ? before
    : { facts, waiting: noPeers, expired: noPeers, offline: noPeers, verdicts: { deciding, problemsByPeer: of } };
}

/** Returns whether anything is known about the machine of the peer, besides its connection. */
function hasFacts({ facts, location }: PeerStatus): boolean {
  return Object.keys(facts).length > 0 || Object.keys(location).length > 0;
}

function sameValues<Value>(one: ReadonlyMap<string, Value>, other: ReadonlyMap<string, Value>): boolean {
  return one.size === other.size && [...one].every(([id, value]) => other.get(id) === value);
}

const factsCache = new WeakMap<JsonObject, { readonly location: JsonObject; readonly value: PeerFacts }>();

/**
 * Returns the facts of a peer. They are computed once, as long as the peer reports the same facts from the same
 * location.
 */
function cachedFactsOf(status: PeerStatus): PeerFacts {
  const present = factsCache.get(status.facts);
  if (present?.location === status.location) return present.value;
  const value = factsOf(status);
  factsCache.set(status.facts, { location: status.location, value });
  return value;
}

function factsOf({ facts, location }: PeerStatus): PeerFacts {
  return {
    ...text('system', facts['system']),
    ...text('systemVersion', facts['system_version']),
    ...text('kernelVersion', facts['kernel_version']),
    ...text('clientVersion', facts['version']),
    ...text('country', location['country_code']),
    ...text('city', location['city_name']),
    ...text('connectionAddress', location['connection_ip']),
    ...addresses(facts['network_addresses']),
    ...texts('processes', facts['processes']),
    ...certificates(facts['certificates']),
  };
}

function text<Name extends keyof PeerFacts>(name: Name, value: Json | undefined): Partial<Record<Name, string>> {
  // The object has exactly the member `name`.
  return (typeof value === 'string' && value !== '' ? { [name]: value } : {}) as Partial<Record<Name, string>>;
}

function texts(name: 'processes', value: Json | undefined): Pick<PeerFacts, 'processes'> {
  return Array.isArray(value) ? { [name]: value.map(String) } : {};
}

function addresses(value: Json | undefined): Pick<PeerFacts, 'addresses'> {
  if (!Array.isArray(value)) return {};
  return { addresses: value.flatMap((item: Json) => (isObject(item) ? [String(item['net_ip'])] : [])) };
}

function certificates(value: Json | undefined): Pick<PeerFacts, 'certificates'> {
  if (!Array.isArray(value)) return {};
  return { certificates: value.flatMap((chain: Json) => (Array.isArray(chain) ? [chain.map(String)] : [])) };
}
