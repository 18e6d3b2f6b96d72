import { lookup as lookUp } from 'node:dns/promises';
import { isIP } from 'node:net';
import { type AllowList, isAllowed, notPublic, plainHost } from '../lib/net/public-address.ts';
import { OutboundFailure } from './failure.ts';

/** Finds the addresses of a host name. */
export type Lookup = (host: string) => Promise<readonly string[]>;

/** Where a request goes, and on whose word. */
export interface Target {
  /** A name, or an address without brackets. */
  readonly host: string;
  readonly port: number;
  /** Who named the host: the operator's configuration reaches what it likes, users reach public hosts. */
  readonly namedBy: 'operator' | 'user';
  /** Host names that this target may have besides those of the server's allow list, whatever they resolve to. */
  readonly alsoAllowed?: ReadonlySet<string>;
}

/** Asks the resolver of this machine, so that its files and search domains count. */
export const systemLookup: Lookup = async (host) => (await lookUp(host, { all: true })).map(({ address }) => address);

/**
 * The addresses at which a host may be connected to. The caller must connect to these and not resolve the name again:
 * another answer of the resolver would not have been checked. Throws `OutboundFailure`.
 */
export async function checkedAddresses(target: Target, allow: AllowList, lookup: Lookup): Promise<readonly string[]> {
  const host = plainHost(target.host);
  const isName = isIP(host) === 0;
  const addresses = isName ? await resolve(target, host, lookup) : [host];
  if (target.namedBy === 'operator' || target.alsoAllowed?.has(host)) return addresses;
  const allowed = addresses.filter((address) => isAllowed(allow, host, address));
  if (allowed.length > 0) return allowed;
  const why = refusal(host, addresses[0] ?? '');
  throw isName ? closed(host, 'refused', why) : why;
}

/** Why users may not name a host, as far as the name alone says it: it is an address, or a name of this machine. */
export function refusalByName(named: string, allow: AllowList): string | undefined {
  const host = plainHost(named);
  const address = isIP(host) > 0 ? host : /^(.+\.)?localhost$/.test(host) ? '127.0.0.1' : undefined;
  if (address === undefined || isAllowed(allow, host, address)) return undefined;
  return refusal(host, address).message;
}

/** Why a host is refused, and what the operator can do. */
function refusal(host: string, address: string): OutboundFailure {
  const what = host === address ? host : `${host} (${address})`;
  return new OutboundFailure(
    'refused',
    `${what} is ${notPublic(address)}, which this server does not connect to for its users; the operator can allow it with HEDDLE_OUTBOUND_ALLOW`,
  );
}

async function resolve({ namedBy }: Target, host: string, lookup: Lookup): Promise<readonly string[]> {
  try {
    const addresses = await lookup(host);
    if (addresses.length > 0) return addresses;
  } catch (cause) {
    throw unresolved(namedBy, host, cause);
  }
  throw unresolved(namedBy, host, undefined);
}

function unresolved(namedBy: Target['namedBy'], host: string, cause: unknown): OutboundFailure {
  const message = `the name ${host} has no address; see whether it is right`;
  const why = new OutboundFailure('unresolved', message, { cause });
  return namedBy === 'operator' ? why : closed(host, 'unresolved', why);
}

/**
 * The message for a name that leads to no public host. It reads the same whether the name is unknown or leads inside,
 * and contains no address: users would otherwise read the names of the operator's network. The cause has the reason.
 */
function closed(host: string, outcome: 'refused' | 'unresolved', cause: OutboundFailure): OutboundFailure {
  return new OutboundFailure(
    outcome,
    `${host} has no address that this server connects to for its users; see whether the name is right, or the operator can allow it with HEDDLE_OUTBOUND_ALLOW`,
    { cause },
  );
}
