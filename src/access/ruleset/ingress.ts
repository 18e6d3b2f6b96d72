import { mergeIntervals } from '../../lib/bits/intervals.ts';
import { equalJson } from '../../lib/json.ts';
import { type PortMapping, type Transport, transports, usesTransport } from '../../model/state/ingress-ports.ts';
import { type Forwarding, noTakeovers, type Takeovers, takeoversIn } from '../../model/state/ingress-takeovers.ts';
import type { StoredObject } from '../../model/state/object.ts';
import type { AccessImage } from './access.ts';
import type { Endpoints } from './endpoints.ts';
import { accessTypeOf, kindOf, type Policy, type Rule, readIngressPeer, readIngressPort } from './object-readers.ts';
import type { UpdateInput } from './update-image.ts';
import { containsEndpoint, type UpdatedPeers } from './update-peers.ts';

/**
 * Returns which ingress ports are forwarded by another ingress peer because their own is offline. Returns the previous
 * value when nothing changed.
 */
export function updateTakeovers(
  { previous, state, observedPeers, touched }: UpdateInput,
  endpoints: Endpoints,
  { live, changed }: UpdatedPeers,
): Takeovers {
  const { offline } = observedPeers;
  if (offline.size === 0) return noTakeovers;
  const isSame =
    offline === previous.observedPeers.offline &&
    touched.ingressPort.size + touched.ingressPeer.size === 0 &&
    !state.ofKind(kindOf.ingressPeer).some((one) => changed.has(readIngressPeer(one).peer));
  if (isSame) return previous.takeovers;
  const takeovers = takeoversIn(state, {
    isOffline: (peer) => offline.has(peer),
    isExcluded: (peer) => !containsEndpoint(endpoints, live, peer),
  });
  return changedTakeovers(previous.takeovers, takeovers).length === 0 ? previous.takeovers : takeovers;
}

/**
 * Returns the ids of ingress ports whose forwarding may have changed: by another peer, to other ports, or no longer.
 */
export function ingressPortsToUpdate(
  step: UpdateInput,
  peers: ReadonlySet<string>,
  takeovers: Takeovers,
): ReadonlySet<string> {
  const { previous, state, touched, referrerIds } = step;
  const ports = new Set(touched.ingressPort);
  const ingressPeers = new Set([...touched.ingressPeer, ...[...peers].flatMap((id) => referrerIds(id, 'ingressPeer'))]);
  for (const id of ingressPeers) for (const port of referrerIds(id, 'ingressPort', 'ingress_peer_id')) ports.add(port);
  for (const id of peers)
    for (const one of [previous.state, state])
      for (const port of one.childrenOf(id, kindOf.ingressPort)) ports.add(port.id);
  for (const [id, { ingressPeer }] of takeovers) if (ingressPeers.has(ingressPeer)) ports.add(id);
  for (const id of changedTakeovers(previous.takeovers, takeovers)) ports.add(id);
  return ports;
}

/** Returns the ids of ingress ports whose takeover differs. */
function changedTakeovers(before: Takeovers, after: Takeovers): readonly string[] {
  if (before === after) return [];
  const ids = [...new Set([...before.keys(), ...after.keys()])];
  return ids.filter((id) => !equalForwardings(before.get(id), after.get(id)));
}

function equalForwardings(a: Forwarding | undefined, b: Forwarding | undefined): boolean {
  return a?.ingressPeer === b?.ingressPeer && equalJson(a?.mappings ?? [], b?.mappings ?? []);
}

const policyCache = new WeakMap<StoredObject, Policy>();

/**
 * Returns an ingress port in the form of a policy: the peer that forwards it may open connections to the target's
 * ports. Returns `undefined` while no ingress peer forwards it.
 */
export function policyOfIngressPort(
  port: StoredObject,
  { state, takeovers }: Pick<AccessImage, 'state' | 'takeovers'>,
): Policy | undefined {
  const own = readIngressPort(port);
  const takeover = takeovers.get(port.id);
  const hostOf = (id: string): string | undefined => {
    const object = state.get(id);
    return object !== undefined && accessTypeOf(object) === 'ingressPeer' ? readIngressPeer(object).peer : undefined;
  };
  const [gateway, allocated] = [hostOf(takeover?.ingressPeer ?? own.ingressPeer), hostOf(own.ingressPeer)];
  if (gateway === undefined) return undefined;
  const mappings = takeover?.mappings ?? own.mappings;
  const known = policyCache.get(port);
  if (known?.ingress?.gateway === gateway && equalJson(known.ingress.mappings, mappings)) return known;
  const standsInFor = takeover === undefined || allocated === undefined ? {} : { standsInFor: allocated };
  const policy: Policy = {
    ...{ id: port.id, name: own.name, enabled: own.enabled, postures: [], declared: own.declared },
    rules: transports.flatMap((transport) => ruleFor(transport, { ...own, gateway, mappings })),
    ingress: { gateway, target: own.target, mappings, ...standsInFor },
  };
  policyCache.set(port, policy);
  return policy;
}

interface Forwarded {
  readonly id: string;
  readonly name: string;
  readonly gateway: string;
  readonly target: string;
  readonly mappings: readonly PortMapping[];
}

function ruleFor(transport: Transport, { id, name, gateway, target, mappings }: Forwarded): readonly Rule[] {
  const ports = mappings
    .filter(({ protocol }) => usesTransport(protocol, transport))
    .map(({ translated_start: start, translated_end: end }) => ({ start, end }));
  if (ports.length === 0) return [];
  return [
    {
      ...{ id, key: transport, name, enabled: true, action: 'accept', bidirectional: false },
      ...{ protocol: transport, ports: mergeIntervals(ports), authorized: {} },
      sources: { groups: [], one: gateway },
      destinations: { groups: [], one: target },
    },
  ];
}
