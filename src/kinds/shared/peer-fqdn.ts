import type { State } from '../../model/declare/kind.ts';
import { peerDomainOf } from '../../model/declare/peer-domain.ts';
import type { Stored } from '../../model/state/stored.ts';

/** Returns the full name of a peer, empty for a peer without a label. */
export function peerFqdn(peer: Stored<'Peer'>, state: State): string {
  const label = peer.spec.dns_label ?? '';
  return label === '' ? '' : `${label}.${peerDomainOf(state.ofKind('Account')[0])}`;
}
