import { parseAddress, parseCidr } from '../../lib/net/address.ts';
import type { State } from '../../model/declare/kind.ts';

/** Returns the type of a network resource, which follows from its address. */
export function resourceTypeOf(address: string): 'host' | 'subnet' | 'domain' {
  if (parseAddress(address) !== undefined) return 'host';
  const range = parseCidr(address);
  if (!range.ok) return 'domain';
  return range.cidr.prefix === (range.cidr.family === 4 ? 32 : 128) ? 'host' : 'subnet';
}

/**
 * Returns why a network resource cannot be named by a type, or `undefined` when it can. Ids of other objects have no
 * fault.
 */
export function resourceTypeFault(state: State, id: string, type: string): string | undefined {
  const resource = state.find('NetworkResource', id);
  if (resource === undefined) return undefined;
  const actual = resourceTypeOf(resource.spec.address ?? '');
  return actual === type
    ? undefined
    : `the network resource \`${resource.name}\` is of type \`${actual}\`, not \`${type}\`; send \`"type": "${actual}"\``;
}
