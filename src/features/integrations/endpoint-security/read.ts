import type { Json, JsonObject } from '../../../lib/json.ts';
import { asObject, isObject, parseJson } from '../../../lib/json.ts';
import { sha256 } from '../../../lib/node-pure.ts';
import { VendorFailure } from './vendor.ts';

/** Location of a list in an answer, and its maximum length. */
export interface ListLocation {
  readonly member: string;
  readonly host: string;
  readonly maxItems: number;
}

/**
 * Returns the list of objects in an answer. Throws `VendorFailure` when there is no list, because a page without a list
 * is not an empty page, and when the list is longer than what was asked for.
 */
export function listIn(body: Json, location: ListLocation): readonly JsonObject[] {
  // The cast is safe: `isObject` checked each item.
  return listOf(body, location, isObject) as readonly JsonObject[];
}

/** Returns a list of texts, such as ids. Throws `VendorFailure` as `listIn` does. */
export function textsIn(body: Json, location: ListLocation): readonly string[] {
  // The cast is safe: `isShortText` checked each item.
  return listOf(body, location, isShortText) as readonly string[];
}

function listOf(
  body: Json,
  { member, host, maxItems }: ListLocation,
  isItem: (item: Json) => boolean,
): readonly Json[] {
  const list = isObject(body) ? asObject(body)[member] : undefined;
  // The length is checked first: the items of a list that is too long are not examined.
  if (Array.isArray(list) && list.length > maxItems)
    throw new VendorFailure(
      `${host} answers with ${list.length} items in the list \`${member}\`, although at most ${maxItems} were requested`,
    );
  if (Array.isArray(list) && list.every(isItem)) return list;
  throw new VendorFailure(`${host} answers without the list \`${member}\` that its API describes`);
}

/** Maximum length of a text. Names and states are short, so longer texts are not accepted. */
const maxTextLength = 2048;

/** Maximum number of pages, which no product reaches. */
const maxPages = 20_000;

/**
 * Returns a function to call with the cursor (or link, or id) of each page after the first. It throws `VendorFailure`
 * when a cursor occurs for the second time, and when there are too many pages: pages without devices would otherwise be
 * read forever.
 */
export function createProgressCheck(host: string): (cursor: string) => void {
  const seen = new Set<string>();
  return (cursor) => {
    // The product decides how long a cursor is, so only hashes are kept.
    const sum = sha256(cursor);
    if (seen.has(sum)) throw new VendorFailure(`${host} answers with a page that links back to an earlier one`);
    if (seen.size === maxPages) throw new VendorFailure(`${host} answers with more than ${maxPages} pages`);
    seen.add(sum);
  };
}

/** Returns the member if it is a text of acceptable length, otherwise an empty text. */
export function textIn(object: JsonObject, member: string): string {
  const value = object[member];
  return isShortText(value) ? value : '';
}

function isShortText(value: Json | undefined): value is string {
  return typeof value === 'string' && value.length <= maxTextLength;
}

/** Returns the time in a member, in ISO 8601, or `undefined` when there is none. */
export function momentIn(object: JsonObject, member: string): string | undefined {
  const ms = Date.parse(textIn(object, member));
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString();
}

/** Returns the end of a token that states it itself, as a JWT does, in ISO 8601. Otherwise returns `undefined`. */
export function expiryOfToken(token: string): string | undefined {
  const [, claims = '', ...others] = token.split('.');
  if (others.length !== 1) return undefined;
  const { exp } = claimsOf(claims);
  return typeof exp === 'number' && exp > 0 && exp < 1e11 ? new Date(exp * 1000).toISOString() : undefined;
}

/** Returns the claims in a token, or an empty object when they are not JSON: any text may contain two dots. */
function claimsOf(text: string): JsonObject {
  try {
    return asObject(parseJson(Buffer.from(text, 'base64url').toString('utf8')));
  } catch {
    return {};
  }
}

/** Returns the object in a member, or an empty object when there is none. */
export function objectIn(object: Json | undefined, member: string): JsonObject {
  const value = isObject(object) ? asObject(object)[member] : undefined;
  return isObject(value) ? asObject(value) : {};
}

/** Returns a URL below an address that a user gave, with or without a slash at its end. */
export function urlBelow(base: string, path: string, query: Readonly<Record<string, string>> = {}): URL {
  const url = new URL(`${base.replace(/\/+$/, '')}${path}`);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url;
}

/** Returns the faults whose condition is true. */
export function faultsOf(...faults: readonly (string | false | undefined)[]): readonly string[] {
  return faults.filter((fault) => typeof fault === 'string');
}
