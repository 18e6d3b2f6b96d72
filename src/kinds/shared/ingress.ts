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

/** Returns the number of free ports of an ingress peer, by transport. */
export function countFreePorts(ingressPeer: Stored<'IngressPeer'>, state: State): Readonly<Record<Transport, number>> {
  const free = freePorts(ingressPeer, portsOn(ingressPeer, state).flatMap(mappingsOf));
  return { tcp: countNumbers(free.tcp), udp: countNumbers(free.udp) };
}

/** Returns the region of an ingress peer: the one that it was given, or else the country of its peer. */
export function regionOf(ingressPeer: Stored<'IngressPeer'>, state: State): string {
  return ingressPeer.spec.region || countryOf(state.find('Peer', ingressPeer.spec.peer_id ?? ''));
}

/** Returns the country code of a peer, empty while it is unknown. */
export function countryOf(peer: Stored<'Peer'> | undefined): string {
  return (peer === undefined ? undefined : peer.derived.country_code) ?? '';
}

/** Returns the address at which an ingress peer is reached from outside, empty while it is unknown. */
export function ingressIpOf(ingressPeer: Stored<'IngressPeer'>, state: State): string {
  const id = ingressPeer.spec.peer_id ?? '';
  const seen = state.observed?.(id)?.['connection_ip'];
  // Until the peer connects, the address from which it enrolled counts.
  return typeof seen === 'string' ? seen : (state.find('Peer', id)?.derived.connection_ip ?? '');
}

/** Returns the ingress peer that forwards an ingress port now. */
export function findForwarder(port: Stored<'IngressPort'>, state: State): Stored<'IngressPeer'> | undefined {
  return state.find('IngressPeer', forwardingIn(port, state)?.ingressPeer ?? '');
}

/** Returns how an ingress port is forwarded now. Takeovers count only if the state provides observations. */
export function forwardingIn(port: Stored<'IngressPort'>, state: State): Forwarding | undefined {
  const takeovers = takeoverCache.get(state) ?? observedTakeovers(state);
  takeoverCache.set(state, takeovers);
  return forwardingOf(port, takeovers);
}

const takeoverCache = new WeakMap<State, Takeovers>();

function observedTakeovers(state: State): Takeovers {
  const { observed } = state;
  if (observed === undefined) return noTakeovers;
  return takeoversIn(state, {
    // A peer without observations has never connected.
    isOffline: (peer) => observed(peer)?.['offline'] !== false,
    isExcluded: (peer) => state.disapproval?.(peer) !== undefined,
  });
}
