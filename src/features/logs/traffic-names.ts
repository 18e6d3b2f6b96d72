import { isInGroup } from '../../access/ruleset/groups.ts';
import { extraSettingsOf } from '../../commit/account-settings.ts';
import type { Engine } from '../../commit/engine.ts';
import { observedIn } from '../../commit/presence.ts';
import { lowerToCanonical } from '../../model/lower/response.ts';
import type { StoredObject } from '../../model/state/object.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import type { Stored } from '../../model/state/stored.ts';
import type { KnownEnd, Person, TrafficNames } from './traffic-report.ts';

/** Settings of the account for logs of traffic. */
interface TrafficSettings {
  readonly enabled: boolean;
  readonly groups: readonly string[];
  readonly counters: boolean;
}

/** Returns why the traffic of a peer is not stored, `undefined` when it is stored. */
export function trafficRefusalOf(engine: Engine, state: Snapshot, peer: Stored<'Peer'>): string | undefined {
  const { enabled, groups } = trafficSettingsOf(state);
  if (engine.planEnvironment.edition !== 'hosted') return 'traffic is stored in the hosted edition only';
  if (!enabled) return '`network_traffic_logs_enabled` of the account is off';
  const isLogged = groups.length === 0 || groups.some((group) => isInGroup(state, group, peer.id));
  return isLogged ? undefined : 'the peer is in none of the groups that are logged';
}

/** Creates the look-up of the objects that the traffic of a peer refers to. */
export async function createTrafficNames(
  engine: Engine,
  state: Snapshot,
  reporter: Stored<'Peer'>,
): Promise<TrafficNames> {
  const observed = observedIn(await engine.presence.read(state.account));
  const seen = state.viewedAs({ now: engine.now(), viewer: '', observed });
  const ends = new Map<string, KnownEnd | undefined>();
  const endOf = (peer: Stored<'Peer'>): KnownEnd => {
    const shown = lowerToCanonical(engine.registry, peer, seen);
    const text = (name: string) => (typeof shown[name] === 'string' ? shown[name] : '');
    return {
      ...{ id: peer.id, type: 'PEER', name: peer.name, os: text('os'), dns_label: text('dns_label') },
      geo_location: { city_name: text('city_name'), country_code: text('country_code') },
      user: personOf(state, peer),
    };
  };
  return {
    reporter: personOf(state, reporter),
    counters: trafficSettingsOf(state).counters,
    peerAt(address) {
      if (ends.has(address)) return ends.get(address);
      const peer = state.findByUnique('Peer', 'ip', address) ?? state.findByUnique('Peer', 'ipv6', address);
      const end = peer === undefined ? undefined : endOf(peer);
      ends.set(address, end);
      return end;
    },
    targetOf(id) {
      const target = state.get(id);
      const type = target === undefined ? undefined : targetTypes[target.kind]?.(engine, state, target);
      return target === undefined || type === undefined ? undefined : { id, type, name: target.name };
    },
    policyOf(id) {
      const policy = state.ofKind('Policy').find((candidate) => candidate.id === id);
      return policy === undefined ? undefined : { id, name: policy.name };
    },
  };
}

type TypeOf = (engine: Engine, state: Snapshot, target: StoredObject) => string;

/** Types of traffic targets, by the kind of the object. */
const targetTypes: Readonly<Record<string, TypeOf>> = {
  Route: () => 'ROUTE',
  NetworkResource: ({ registry }, state, target) =>
    `${String(lowerToCanonical(registry, target, state)['type']).toUpperCase()}_RESOURCE`,
};

function personOf(state: Snapshot, { spec }: Stored<'Peer'>): Person {
  const user = state.find('User', spec.user_id ?? '');
  if (user === undefined) return { id: '', email: '', name: '' };
  return { id: user.id, email: user.spec.email ?? '', name: user.spec.name ?? '' };
}

function trafficSettingsOf(state: Snapshot): TrafficSettings {
  const extra = extraSettingsOf(state);
  const groups = extra['network_traffic_logs_groups'];
  return {
    enabled: extra['network_traffic_logs_enabled'] === true,
    groups: Array.isArray(groups) ? groups.map(String) : [],
    counters: extra['network_traffic_packet_counter_enabled'] === true,
  };
}
