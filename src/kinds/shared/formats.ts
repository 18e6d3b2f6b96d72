import { parseAddress, parseCidr } from '../../lib/net/address.ts';
import { canonicalDomain, type DomainOptions } from '../../lib/net/domain.ts';
import type { Format, FormatName } from '../../model/schema/format.ts';

/** Letters, digits, hyphens, dots, underscores and any non-ASCII character: names may be in any script. */
const nameCharacters = '[^\\x00-,/:-@\\[-^`{-\\x7f]+';

/** Range of addresses. Set host bits are a fault, because the masked range may not be what the author meant. */
export const cidr: Format = {
  name: 'cidr',
  pattern: '[0-9A-Fa-f:.]+/[0-9]{1,3}',
  canonical(text) {
    const result = parseCidr(text);
    if (result.ok) return { value: result.cidr.text };
    if (result.fault === 'host_bits') {
      return { fault: `\`${text}\` has host bits set after its prefix; write \`${result.masked}\`` };
    }
    const address = parseAddress(text);
    if (address === undefined) return { fault: `\`${text}\` is not an address range; write one such as 10.20.0.0/16` };
    return { fault: `\`${text}\` has no prefix length; write \`${address.text}/${address.family === 4 ? 32 : 128}\`` };
  },
};

/** IPv4 address in dotted decimal. */
export const ipv4: Format = addressFormat('ipv4', 4, '10.20.0.1', '[0-9]{1,3}([.][0-9]{1,3}){3}');

/** IPv6 address in canonical form (RFC 5952). */
export const ipv6: Format = addressFormat('ipv6', 6, 'fd00::1', '[0-9A-Fa-f:.]+');

/** Address of either family, in canonical form. */
export const address: Format = {
  name: 'address',
  pattern: '[0-9A-Fa-f:.]+',
  canonical(text) {
    const value = parseAddress(text)?.text;
    if (value !== undefined) return { value };
    return { fault: `\`${text}\` is not an IP address; write one such as 10.20.0.1 or fd00::1` };
  },
};

/** Domain name: lower case, punycode, no trailing dot. */
export const domain: Format = domainFormat('domain', {}, 'example.com');

/** Domain name, or all names below one (`*.example.com`). */
export const wildcardDomain: Format = domainFormat('domain', { wildcard: true }, 'example.com or *.example.com');

/** Owner name of a DNS record. Underscores are allowed, and `*` as the first label. */
export const recordName: Format = domainFormat('record_name', { wildcard: true, underscore: true }, 'www.example.com');

/** Target of a CNAME record. Underscores are allowed, wildcards are not. */
export const recordTarget: Format = domainFormat('record_target', { underscore: true }, 'www.example.com');

/** Port number as text. */
export const port: Format = {
  name: 'port',
  pattern: '[1-9][0-9]{0,4}',
  canonical(text) {
    if (/^[1-9]\d{0,4}$/.test(text) && Number(text) <= 65535) return { value: text };
    return { fault: `\`${text}\` is not a port; write a number from 1 to 65535 without leading zeros` };
  },
};

/** Port number as text, or a range such as `8000-8010`. */
export const portOrRange: Format = {
  name: 'port_or_range',
  pattern: '[1-9][0-9]{0,4}(-[1-9][0-9]{0,4})?',
  canonical(text) {
    const ends = text.split('-');
    const isWhole = ends.every((end) => /^[1-9]\d{0,4}$/.test(end) && Number(end) <= 65535);
    const [start, end = start] = ends;
    if (ends.length > 2 || !isWhole || Number(start) > Number(end))
      return { fault: `\`${text}\` is neither a port nor a range of ports; write one such as 443 or 8000-8010` };
    return { value: start === end ? `${start}` : text };
  },
};

function addressFormat(name: FormatName, family: 4 | 6, example: string, pattern: string): Format {
  return {
    name,
    pattern,
    canonical(text) {
      const address = parseAddress(text);
      if (address?.family === family) return { value: address.text };
      return { fault: `\`${text}\` is not an IPv${family} address; write one such as ${example}` };
    },
  };
}

function domainFormat(name: FormatName, options: DomainOptions, example: string): Format {
  return {
    name,
    pattern: options.wildcard === true ? `(\\*\\.)?${nameCharacters}` : nameCharacters,
    canonical(text) {
      const value = canonicalDomain(text, options);
      if (value !== undefined) return { value };
      return { fault: `\`${text}\` is not a domain name; write one such as ${example}` };
    },
  };
}
