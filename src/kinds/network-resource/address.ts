import { parseAddress } from '../../lib/net/address.ts';
import type { Format } from '../../model/schema/field.ts';
import { cidr, wildcardDomain } from '../shared/formats.ts';

/** A host, a range or a domain; a single address is the smallest range. */
export const resourceAddress: Format = {
  name: 'address',
  canonical(text) {
    const address = parseAddress(text);
    if (address !== undefined) return { value: `${address.text}/${address.family === 4 ? 32 : 128}` };
    if (text.includes('/')) return cidr.canonical(text);
    const name = wildcardDomain.canonical(text);
    if ('value' in name) return name;
    return {
      fault: `\`${text}\` is neither an address nor a range nor a domain; write one such as 10.20.0.10, 10.20.0.0/16 or *.example.com`,
    };
  },
};
