import type { Stored } from '../state/stored.ts';

/** The domain of peers where neither the account nor the installation chose one. */
const defaultPeerDomain = 'heddle.internal';

/** The domain below which the peers of an account have their names; `account` is the object of the account. */
export function peerDomainOf(account: Stored<'Account'> | undefined): string {
  if (account === undefined) return defaultPeerDomain;
  return account.spec.settings?.dns_domain || (account.derived.peer_dns_domain ?? defaultPeerDomain);
}
