import { countNumbers } from '../../lib/bits/intervals.ts';
import type { State } from '../../model/declare/kind.ts';
import { freePorts, mappingsOf, portsOn, type Transport } from '../../model/state/ingress-ports.ts';
import {
  type Forwarding,
  forwardingOf,
  noTakeovers,
  type Takeovers,
  takeoversIn,
} from '../../model/state/ingress-takeovers.ts';
import type { Stored } from '../../model/state/stored.ts';

/** How many ports of an ingress peer are free. */
export function countFree(ingressPeer: Stored<'IngressPeer'>, state: State): Readonly<Record<Transport, number>> {
  const free = freePorts(ingressPeer, portsOn(ingressPeer, state).flatMap(mappingsOf));
  return { tcp: countNumbers(free.tcp), udp: countNumbers(free.udp) };
}

/** Where an ingress peer is: the label that it was given, else the country of its peer. */
export function regionOf(ingressPeer: Stored<'IngressPeer'>, state: State): string {
  return ingressPeer.spec.region || countryOf(state.find('Peer', ingressPeer.spec.peer_id ?? ''));
}

/** The country of a peer, empty while it is unknown. */
export function countryOf(peer: Stored<'Peer'> | undefined): string {
  return (peer === undefined ? undefined : peer.derived.country_code) ?? '';
}

/** The address at which an ingress peer is reached from outside, empty while it is unknown. */
export function ingressIpOf(ingressPeer: Stored<'IngressPeer'>, state: State): string {
  const id = ingressPeer.spec.peer_id ?? '';
  const seen = state.observed?.(id)?.['connection_ip'];
  // Until it connects: where it enrolled.
  return typeof seen === 'string' ? seen : (state.find('Peer', id)?.derived.connection_ip ?? '');
}

/** The ingress peer that forwards an ingress port at the moment. */
export function forwardedBy(port: Stored<'IngressPort'>, state: State): Stored<'IngressPeer'> | undefined {
  return state.find('IngressPeer', forwardingIn(port, state)?.ingressPeer ?? '');
}

/** How an ingress port is forwarded at the moment, as far as the state shows what is observed. */
export function forwardingIn(port: Stored<'IngressPort'>, state: State): Forwarding | undefined {
  const takeovers = known.get(state) ?? observedTakeovers(state);
  known.set(state, takeovers);
  return forwardingOf(port, takeovers);
}

const known = new WeakMap<State, Takeovers>();

function observedTakeovers(state: State): Takeovers {
  const { observed } = state;
  if (observed === undefined) return noTakeovers;
  return takeoversIn(state, {
    // A peer about which nothing is observed never connected.
    isOffline: (peer) => observed(peer)?.['offline'] !== false,
    isKeptOut: (peer) => state.disapproval?.(peer) !== undefined,
  });
}
