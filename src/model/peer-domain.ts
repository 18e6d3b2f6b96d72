import { isObject } from '../lib/json.ts';
import type { StoredObject } from './object.ts';

/** The domain of peers where neither the account nor the installation chose one. */
const defaultPeerDomain = 'heddle.internal';

/** The domain below which the peers of an account have their names; `account` is the object of the account. */
export function peerDomainOf(account: StoredObject | undefined): string {
  if (account === undefined) return defaultPeerDomain;
  const { settings } = account.spec;
  const chosen = isObject(settings) ? settings['dns_domain'] : undefined;
  if (typeof chosen === 'string' && chosen !== '') return chosen;
  const installed = account.derived['peer_dns_domain'];
  return typeof installed === 'string' ? installed : defaultPeerDomain;
}
