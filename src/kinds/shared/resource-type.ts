import { parseAddress, parseCidr } from '../../lib/net/address.ts';

/** Returns the type of a network resource, which follows from its address. */
export function resourceTypeOf(address: string): 'host' | 'subnet' | 'domain' {
  if (parseAddress(address) !== undefined) return 'host';
  const range = parseCidr(address);
  if (!range.ok) return 'domain';
  return range.cidr.prefix === (range.cidr.family === 4 ? 32 : 128) ? 'host' : 'subnet';
}
