import { lookup as lookUp } from 'node:dns/promises';
import { isIP } from 'node:net';
import { type AllowList, describeNonPublic, isAllowed, normalizeHost } from '../lib/net/public-address.ts';
import { OutboundFailure } from './failure.ts';

/** Resolves a host name to its addresses. */
export type Lookup = (host: string) => Promise<readonly string[]>;

/** Destination of a request, and whether the operator or a user named it. */
export interface OutboundDestination {
  /** Host name, or IP address without brackets. */
  readonly host: string;
  readonly port: number;
  /**
   * Whether the operator's configuration or a user named the host. The operator may reach any host; users may only
   * reach hosts that are public or allowed.
   */
  readonly namedBy: 'operator' | 'user';
  /**
   * Host names that this destination may have in addition to those of the server's allow list, whatever they resolve
   * to.
   */
  readonly alsoAllowed?: ReadonlySet<string>;
}

/** Resolves names with the resolver of this machine, so that its hosts file and search domains apply. */
export const systemLookup: Lookup = async (host) => (await lookUp(host, { all: true })).map(({ address }) => address);

/**
 * Returns the addresses at which a host may be connected to. The caller must connect to one of them and not resolve the
 * name again: a second answer of the resolver would be unchecked. Throws `OutboundFailure`.
 */
export async function checkedAddresses(
  destination: OutboundDestination,
  allow: AllowList,
  lookup: Lookup,
): Promise<readonly string[]> {
  const host = normalizeHost(destination.host);
  const isName = isIP(host) === 0;
  const addresses = isName ? await resolveHost(destination, host, lookup) : [host];
  if (destination.namedBy === 'operator' || destination.alsoAllowed?.has(host)) return addresses;
  const allowed = addresses.filter((address) => isAllowed(allow, host, address));
  if (allowed.length > 0) return allowed;
  const why = addressRefusal(host, addresses[0] ?? '');
  throw isName ? noPublicAddressFailure(host, 'refused', why) : why;
}

/**
 * Returns why users may not name a host, judged by the name alone: it is an IP address that is not public, or a name of
 * this machine (`localhost`). Returns `undefined` for all other hosts.
 */
export function refusalByName(named: string, allow: AllowList): string | undefined {
  const host = normalizeHost(named);
  const address = isIP(host) > 0 ? host : /^(.+\.)?localhost$/.test(host) ? '127.0.0.1' : undefined;
  if (address === undefined || isAllowed(allow, host, address)) return undefined;
  return addressRefusal(host, address).message;
}

/** Returns the failure that states why a host is refused, and how the operator can allow it. */
function addressRefusal(host: string, address: string): OutboundFailure {
  const what = host === address ? host : `${host} (${address})`;
  return new OutboundFailure(
    'refused',
    `${what} is ${describeNonPublic(address)}, which this server does not connect to for its users; the operator can allow it with HEDDLE_OUTBOUND_ALLOW`,
  );
}

async function resolveHost({ namedBy }: OutboundDestination, host: string, lookup: Lookup): Promise<readonly string[]> {
  try {
    const addresses = await lookup(host);
    if (addresses.length > 0) return addresses;
  } catch (cause) {
    throw unresolvedFailure(namedBy, host, cause);
  }
  throw unresolvedFailure(namedBy, host, undefined);
}

function unresolvedFailure(namedBy: OutboundDestination['namedBy'], host: string, cause: unknown): OutboundFailure {
  const message = `the name ${host} has no address; check the name`;
  const why = new OutboundFailure('unresolved', message, { cause });
  return namedBy === 'operator' ? why : noPublicAddressFailure(host, 'unresolved', why);
}

/**
 * Returns the failure for a name that resolves to no public host. The message is the same whether the name is unknown
 * or resolves to an internal address, and it contains no address: users could otherwise read the names of the
 * operator's network. The cause contains the reason.
 */
function noPublicAddressFailure(
  host: string,
  outcome: 'refused' | 'unresolved',
  cause: OutboundFailure,
): OutboundFailure {
  return new OutboundFailure(
    outcome,
    `${host} has no address that this server connects to for its users; check the name, or let the operator allow it with HEDDLE_OUTBOUND_ALLOW`,
    { cause },
  );
}
