import { canonicalGoDuration } from '../../lib/duration.ts';
import { parseAddress } from '../../lib/net/address.ts';
import { canonicalDomain } from '../../lib/net/domain.ts';
import type { Format } from '../../model/schema/format.ts';

/** Host by address or name. The port is a separate field. */
export const hostname: Format = {
  name: 'host',
  canonical(text) {
    const value = parseAddress(text)?.text ?? canonicalDomain(text, { underscore: true });
    if (value !== undefined) return { value };
    return {
      fault: `\`${text}\` is neither an address nor a host name; write one such as 10.20.0.5 or app.example.com, without a port`,
    };
  },
};

/** Duration with units, greater than zero. */
export const duration: Format = {
  name: 'duration',
  pattern: '[^ ]*[0-9][^ ]*',
  canonical(text) {
    const value = canonicalGoDuration(text);
    if (value !== undefined && value !== '0s') return { value };
    return { fault: `\`${text}\` is not a duration greater than zero; write one such as 30s, 2m or 1h30m` };
  },
};

/** Prefix of the paths that a target serves. */
export const pathPrefix: Format = {
  name: 'path',
  pattern: '/[^ ?#]*',
  canonical(text) {
    if (/^\/[^\s?#\\\p{Cc}]*$/u.test(text)) return { value: text };
    return { fault: `\`${text}\` is not a path; write one that begins with a slash, such as /api` };
  },
};

/** ISO 3166-1 alpha-2 code of a country. */
export const country: Format = {
  name: 'country',
  pattern: '[A-Za-z]{2}',
  canonical(text) {
    if (/^[a-z]{2}$/i.test(text)) return { value: text.toUpperCase() };
    return { fault: `\`${text}\` is not a country code; write two letters, such as DE` };
  },
};
