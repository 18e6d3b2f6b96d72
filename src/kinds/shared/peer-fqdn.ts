import type { State } from '../../model/kind.ts';
import type { StoredObject } from '../../model/object.ts';
import { peerDomainOf } from '../../model/peer-domain.ts';
import { textOf } from './stored.ts';

/** The full name of a peer, empty for a peer without a label. */
export function peerFqdn(peer: StoredObject, state: State): string {
  const label = textOf(peer, 'dns_label');
  return label === '' ? '' : `${label}.${peerDomainOf(state.ofKind('Account')[0])}`;
}
