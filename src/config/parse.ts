import { isIP } from 'node:net';
import { parseDuration } from '../lib/duration.ts';
import { nearest } from '../lib/nearest.ts';
import type { RateLimit } from '../model/rate-limit.ts';
import type { Transport } from '../model/remote-url.ts';
import { parseGrant, type ValueGrant } from '../model/schema/value-policy.ts';

/**
 * Result of parsing a text: its value, or what is wrong with it. The fault is the end of a sentence that begins with
 * the name of the flag, variable or member.
 */
export type Parsed<T> = { readonly value: T } | { readonly fault: string };

/** Endpoints that configuration may serve without a token. */
export const openableEndpoints = ['/metrics', '/docs', '/api/openapi.json'];

/** Parses `HOST:PORT`, the address to listen on. An IPv6 host must be in brackets. */
export function parseListen(text: string): Parsed<{ readonly host: string; readonly port: number }> {
  const [, bracketed, plain, port = ''] = /^(?:\[([\d:a-fA-F.]+)\]|([^:[\]\s]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (host !== undefined && Number(port) <= 65_535) return { value: { host, port: Number(port) } };
  const hint = /^:?\d{1,5}$/.test(text)
    ? `; write 127.0.0.1:${text.replace(':', '')}, or 0.0.0.0:${text.replace(':', '')} for every address`
    : '; write HOST:PORT such as 127.0.0.1:8080 or [::1]:8080';
  return { fault: `is \`${text}\`, which is not an address${hint}` };
}

/** Checks the URL of a Postgres. The fault does not repeat the text, which may contain a password. */
export function parseDatabaseUrl(text: string): Parsed<string> {
  const url = URL.parse(text);
  if (url !== null && ['postgres:', 'postgresql:'].includes(url.protocol)) return { value: text };
  return { fault: 'is not the URL of a Postgres database; write postgres://USER:PASSWORD@HOST:5432/DATABASE' };
}

/** Parses the URL of a server, and removes slashes at its end. */
export function parseServer(text: string): Parsed<string> {
  const url = URL.parse(text);
  const usable = url !== null && ['http:', 'https:'].includes(url.protocol);
  if (usable && url.username === '' && url.search === '' && url.hash === '')
    return { value: url.href.replace(/\/+$/, '') };
  return { fault: 'is not the address of a server; write one such as http://127.0.0.1:8080' };
}

/** Parses a whole number from `least` to `most`. */
export function parseCount(text: string, least: number, most: number): Parsed<number> {
  const count = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (count >= least && count <= most) return { value: count };
  return { fault: `is \`${text}\`; write a number from ${least} to ${most}` };
}

/** Parses a boolean: true, on, yes, 1, or false, off, no, 0, in any case. */
export function parseSwitch(text: string): Parsed<boolean> {
  const word = text.toLowerCase();
  if (['true', 'on', 'yes', '1'].includes(word)) return { value: true };
  if (['false', 'off', 'no', '0'].includes(word)) return { value: false };
  return { fault: `is \`${text}\`; write true or false` };
}

/** Parses the list of endpoints that need no token. */
export function parseEndpoints(texts: readonly string[]): Parsed<readonly string[]> {
  const unknown = texts.find((text) => !openableEndpoints.includes(text));
  if (unknown === undefined) return { value: [...new Set(texts)] };
  const guess = nearest(unknown, openableEndpoints);
  const hint = guess === undefined ? `choose from ${openableEndpoints.join(', ')}` : `did you mean ${guess}?`;
  return { fault: `names \`${unknown}\`, which cannot be opened; ${hint}` };
}

const transports: readonly Transport[] = ['https', 'ssh', 'file'];

/** Parses the list of transports by which Git repositories may be reached. */
export function parseTransports(texts: readonly string[]): Parsed<readonly Transport[]> {
  const known = transports.filter((transport) => texts.includes(transport));
  const unknown = texts.find((text) => !transports.some((transport) => transport === text));
  if (unknown === undefined) return { value: known };
  return { fault: `names \`${unknown}\`; choose from ${transports.join(', ')}` };
}

/** Parses the list of grants, which allow sources to use the server's values. */
export function parseGrants(texts: readonly string[]): Parsed<readonly ValueGrant[]> {
  const grants = texts.map((text) => parseGrant(text));
  const wrong = grants.indexOf(undefined);
  if (wrong < 0) return { value: grants.filter((grant) => grant !== undefined) };
  return {
    fault: `has the invalid entry \`${texts[wrong]}\`; write ACCOUNT/SOURCE=env:HEDDLE_VALUE_X, ACCOUNT/SOURCE=file:dir/name, or ACCOUNT/SOURCE=file:dir/name@HOST for a credential`,
  };
}

/** Parses a duration of at most one hour. Returns milliseconds. */
export function parseGrace(text: string): Parsed<number> {
  const seconds = parseDuration(text);
  if (seconds !== undefined && seconds <= 3600) return { value: seconds * 1000 };
  return { fault: `is \`${text}\`; write a time up to 1h such as 10s` };
}

/**
 * Parses the duration of a lease, from 3s to 5m. Returns seconds. A shorter lease could not be renewed in time; a
 * longer one would delay the takeover by another server too much.
 */
export function parseLease(text: string): Parsed<number> {
  const seconds = parseDuration(text);
  if (seconds !== undefined && seconds >= 3 && seconds <= 300) return { value: seconds };
  return { fault: `is \`${text}\`; write a time from 3s to 5m such as 25s` };
}

/** Parses a duration from 1m to 7d. Returns seconds. */
export function parseClaimLapse(text: string): Parsed<number> {
  const seconds = parseDuration(text);
  if (seconds !== undefined && seconds >= 60 && seconds <= 604_800) return { value: seconds };
  return { fault: `is \`${text}\`; write a time from 1m to 7d such as 1h` };
}

/** Parses `COUNT/BURST`, which is requests per minute and requests at once; or `off`. */
export function parseRateLimit(text: string): Parsed<RateLimit | 'off'> {
  if (text === 'off') return { value: 'off' };
  const [, perMinute = '', burst = ''] = /^(\d{1,7})\/(\d{1,7})$/.exec(text) ?? [];
  if (Number(perMinute) > 0 && Number(burst) > 0)
    return { value: { perMinute: Number(perMinute), burst: Number(burst) } };
  return { fault: `is \`${text}\`; write COUNT/BURST such as 120/1200, or off` };
}

/** Parses the origins whose pages may call the API: `*`, a list, or `off`. Returns an empty list for `off`. */
export function parseOrigins(texts: readonly string[]): Parsed<'*' | readonly string[]> {
  if (texts.includes('*')) return { value: '*' };
  if (texts.length === 1 && texts[0] === 'off') return { value: [] };
  const wrong = texts.find((text) => URL.parse(text)?.origin !== text);
  if (wrong === undefined) return { value: [...new Set(texts)] };
  return {
    fault: `names \`${wrong}\`, which is not an origin; write one such as https://console.example.com, * or off`,
  };
}

/**
 * Parses the trusted reverse proxies: their number, or a list of their addresses. Their headers about client addresses
 * are believed.
 */
export function parseProxies(texts: readonly string[]): Parsed<number | readonly string[]> {
  const [first = ''] = texts;
  if (texts.length === 1 && /^\d{1,2}$/.test(first)) return { value: Number(first) };
  const wrong = texts.find((text) => !/^[\da-fA-F.:]+(\/\d{1,3})?$/.test(text) || isIP(text.replace(/\/.*/, '')) === 0);
  if (wrong === undefined) return { value: texts };
  return {
    fault: `has the invalid entry \`${wrong}\`; write the number of proxies, or their addresses such as 10.0.0.0/8`,
  };
}
