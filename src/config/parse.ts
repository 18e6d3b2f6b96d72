import { isIP } from 'node:net';
import { parseDuration } from '../lib/duration.ts';
import { nearest } from '../lib/nearest.ts';
import type { RateLimit } from '../model/rate-limit.ts';
import type { Transport } from '../model/remote-url.ts';
import { parseGrant, type ValueGrant } from '../model/schema/value-policy.ts';

/** What a text means, or what is wrong with it: the end of a sentence that begins with where it stands. */
export type Parsed<T> = { readonly value: T } | { readonly fault: string };

/** Endpoints that configuration may open. */
export const openable = ['/metrics', '/docs', '/api/openapi.json'];

/** An address to listen on. */
export function parseListen(text: string): Parsed<{ readonly host: string; readonly port: number }> {
  const [, bracketed, plain, port = ''] = /^(?:\[([\d:a-fA-F.]+)\]|([^:[\]\s]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (host !== undefined && Number(port) <= 65_535) return { value: { host, port: Number(port) } };
  const hint = /^:?\d{1,5}$/.test(text)
    ? `; write 127.0.0.1:${text.replace(':', '')}, or 0.0.0.0:${text.replace(':', '')} for every address`
    : '; write HOST:PORT such as 127.0.0.1:8080 or [::1]:8080';
  return { fault: `is \`${text}\`, which is not an address${hint}` };
}

/** The URL of a Postgres. The text is not repeated: it may hold a password. */
export function parseDatabaseUrl(text: string): Parsed<string> {
  const url = URL.parse(text);
  if (url !== null && ['postgres:', 'postgresql:'].includes(url.protocol)) return { value: text };
  return { fault: 'is not the URL of a Postgres database; write postgres://USER:PASSWORD@HOST:5432/DATABASE' };
}

/** The address of a server. */
export function parseServer(text: string): Parsed<string> {
  const url = URL.parse(text);
  const usable = url !== null && ['http:', 'https:'].includes(url.protocol);
  if (usable && url.username === '' && url.search === '' && url.hash === '')
    return { value: url.href.replace(/\/+$/, '') };
  return { fault: 'is not the address of a server; write one such as http://127.0.0.1:8080' };
}

/** A whole number between two bounds. */
export function parseCount(text: string, least: number, most: number): Parsed<number> {
  const count = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (count >= least && count <= most) return { value: count };
  return { fault: `is \`${text}\`; write a number from ${least} to ${most}` };
}

/** A word for yes or no. */
export function parseSwitch(text: string): Parsed<boolean> {
  const word = text.toLowerCase();
  if (['true', 'on', 'yes', '1'].includes(word)) return { value: true };
  if (['false', 'off', 'no', '0'].includes(word)) return { value: false };
  return { fault: `is \`${text}\`; write true or false` };
}

/** A list of endpoints that may be opened. */
export function parseEndpoints(texts: readonly string[]): Parsed<readonly string[]> {
  const unknown = texts.find((text) => !openable.includes(text));
  if (unknown === undefined) return { value: [...new Set(texts)] };
  const guess = nearest(unknown, openable);
  const hint = guess === undefined ? `choose from ${openable.join(', ')}` : `did you mean ${guess}?`;
  return { fault: `names \`${unknown}\`, which cannot be opened; ${hint}` };
}

const transports: readonly Transport[] = ['https', 'ssh', 'file'];

/** A list of ways to reach a repository. */
export function parseTransports(texts: readonly string[]): Parsed<readonly Transport[]> {
  const known = transports.filter((transport) => texts.includes(transport));
  const unknown = texts.find((text) => !transports.some((transport) => transport === text));
  if (unknown === undefined) return { value: known };
  return { fault: `names \`${unknown}\`; choose from ${transports.join(', ')}` };
}

/** A list of what sources may use of the server's values. */
export function parseGrants(texts: readonly string[]): Parsed<readonly ValueGrant[]> {
  const grants = texts.map((text) => parseGrant(text));
  const wrong = grants.indexOf(undefined);
  if (wrong < 0) return { value: grants.filter((grant) => grant !== undefined) };
  return {
    fault: `has \`${texts[wrong]}\`; write ACCOUNT/SOURCE=env:HEDDLE_VALUE_X, ACCOUNT/SOURCE=file:dir/name, or ACCOUNT/SOURCE=file:dir/name@HOST for a credential`,
  };
}

/** A time of at most an hour, in milliseconds. */
export function parseGrace(text: string): Parsed<number> {
  const seconds = parseDuration(text);
  if (seconds !== undefined && seconds <= 3600) return { value: seconds * 1000 };
  return { fault: `is \`${text}\`; write a time up to 1h such as 10s` };
}

/** The time of a lease, in seconds: long enough to be renewed in time, short enough to be waited for. */
export function parseLease(text: string): Parsed<number> {
  const seconds = parseDuration(text);
  if (seconds !== undefined && seconds >= 3 && seconds <= 300) return { value: seconds };
  return { fault: `is \`${text}\`; write a time from 3s to 5m such as 25s` };
}

/** A time in seconds, for claims. */
export function parseClaimLapse(text: string): Parsed<number> {
  const seconds = parseDuration(text);
  if (seconds !== undefined && seconds >= 60 && seconds <= 604_800) return { value: seconds };
  return { fault: `is \`${text}\`; write a time from 1m to 7d such as 1h` };
}

/** `COUNT/BURST`: so many requests a minute, and so many at once; or `off`. */
export function parseRateLimit(text: string): Parsed<RateLimit | 'off'> {
  if (text === 'off') return { value: 'off' };
  const [, perMinute = '', burst = ''] = /^(\d{1,7})\/(\d{1,7})$/.exec(text) ?? [];
  if (Number(perMinute) > 0 && Number(burst) > 0)
    return { value: { perMinute: Number(perMinute), burst: Number(burst) } };
  return { fault: `is \`${text}\`; write COUNT/BURST such as 120/1200, or off` };
}

/** Origins whose pages may call the interface: `*`, some, or `off`. */
export function parseOrigins(texts: readonly string[]): Parsed<'*' | readonly string[]> {
  if (texts.includes('*')) return { value: '*' };
  if (texts.length === 1 && texts[0] === 'off') return { value: [] };
  const wrong = texts.find((text) => URL.parse(text)?.origin !== text);
  if (wrong === undefined) return { value: [...new Set(texts)] };
  return {
    fault: `names \`${wrong}\`, which is not an origin; write one such as https://console.example.com, * or off`,
  };
}

/** Proxies whose word about addresses counts: how many stand in front, or where they are. */
export function parseProxies(texts: readonly string[]): Parsed<number | readonly string[]> {
  const [first = ''] = texts;
  if (texts.length === 1 && /^\d{1,2}$/.test(first)) return { value: Number(first) };
  const wrong = texts.find((text) => !/^[\da-fA-F.:]+(\/\d{1,3})?$/.test(text) || isIP(text.replace(/\/.*/, '')) === 0);
  if (wrong === undefined) return { value: texts };
  return { fault: `names \`${wrong}\`; write how many proxies there are, or their addresses such as 10.0.0.0/8` };
}
