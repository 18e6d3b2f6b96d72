import type { JsonObject } from '../../src/lib/json.ts';
import type { HostStates } from '../../src/model/state/ingress-takeovers.ts';
import type { StoredObject } from '../../src/model/state/object.ts';
import { peer, stored } from './objects.ts';

export const hosts = ['e1', 'e2', 'e3'];
export const pool = { start: 100, end: 111 };

/** Returns an ingress peer on a host. */
export const gate = (on: string, spec: JsonObject = {}) =>
  stored('IngressPeer', `gate-${on}`, {
    ...{ peer_id: on, enabled: true, fallback: true, tcp_pool: pool, udp_pool: pool },
    ...spec,
  });

/** Returns a mapping of `count` ports. */
export const mapping = (ingress: number, count: number, protocol: string, translated = ingress): JsonObject => ({
  translated_start: translated,
  translated_end: translated + count - 1,
  ingress_start: ingress,
  ingress_end: ingress + count - 1,
  protocol,
});

/** Returns an ingress port of the peer `web`. */
export function port(id: string, on: string, mappings: readonly JsonObject[], spec: JsonObject = {}): StoredObject {
  const fields = { peer: 'web', name: id, enabled: true, ingress_peer_id: `gate-${on}`, ...spec };
  return stored('IngressPort', id, fields, { parent: 'web', derived: { port_range_mappings: mappings } });
}

/** Returns host states in which these hosts are offline, and no host is excluded. */
export const away = (...offline: readonly string[]): HostStates => ({
  isOffline: (host) => offline.includes(host),
  isExcluded: () => false,
});

/** The peer `web` and the hosts. */
export const machines = [peer('web', '100.72.0.1'), ...hosts.map((id, at) => peer(id, `100.72.0.${at + 2}`))];
