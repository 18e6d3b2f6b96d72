import { canonicalGoDuration } from '../../lib/duration.ts';
import { parseAddress } from '../../lib/net/address.ts';
import { canonicalDomain } from '../../lib/net/domain.ts';
import type { Format } from '../../model/schema/field.ts';

/** A machine by its address or its name; the port is a field of its own. */
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

/** A length of time with units, more than nothing. */
export const duration: Format = {
  name: 'duration',
  pattern: '[^ ]*[0-9][^ ]*',
  canonical(text) {
    const value = canonicalGoDuration(text);
    if (value !== undefined && value !== '0s') return { value };
    return { fault: `\`${text}\` is not a duration of more than nothing; write one such as 30s, 2m or 1h30m` };
  },
};

/** The first part of the paths that a target answers. */
export const pathPrefix: Format = {
  name: 'path',
  pattern: '/[^ ?#]*',
  canonical(text) {
    if (/^\/[^\s?#\\\p{Cc}]*$/u.test(text)) return { value: text };
    return { fault: `\`${text}\` is not a path; write one that begins with a slash, such as /api` };
  },
};

/** A country of ISO 3166-1 in two letters. */
export const country: Format = {
  name: 'country',
  pattern: '[A-Za-z]{2}',
  canonical(text) {
    if (/^[a-z]{2}$/i.test(text)) return { value: text.toUpperCase() };
    return { fault: `\`${text}\` is not a country; write its two letters, such as DE` };
  },
};
