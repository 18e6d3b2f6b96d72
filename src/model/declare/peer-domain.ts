import type { Stored } from '../state/stored.ts';

/** Domain of peers when neither the account nor the installation sets one. */
const defaultPeerDomain = 'heddle.internal';

/** Returns the parent domain of the names of an account's peers. `account` is the Account object. */
export function peerDomainOf(account: Stored<'Account'> | undefined): string {
  if (account === undefined) return defaultPeerDomain;
  return account.spec.settings?.dns_domain || (account.derived.peer_dns_domain ?? defaultPeerDomain);
}
