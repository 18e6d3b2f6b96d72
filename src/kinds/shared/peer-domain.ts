import type { State } from '../../model/kind.ts';
import type { StoredObject } from '../../model/object.ts';
import { derivedText, sectionOf, textOf } from './stored.ts';

/** The domain of peers where neither the account nor the installation chose one. */
const defaultPeerDomain = 'heddle.internal';

/** The domain below which the peers of an account have their names. */
export function peerDomainOf(account: StoredObject | undefined): string {
  if (account === undefined) return defaultPeerDomain;
  const chosen = sectionOf(account, 'settings')['dns_domain'];
  if (typeof chosen === 'string' && chosen !== '') return chosen;
  return derivedText(account, 'peer_dns_domain') ?? defaultPeerDomain;
}

/** The full name of a peer, empty for a peer without a label. */
export function peerFqdn(peer: StoredObject, state: State): string {
  const label = textOf(peer, 'dns_label');
  return label === '' ? '' : `${label}.${peerDomainOf(state.ofKind('Account')[0])}`;
}
