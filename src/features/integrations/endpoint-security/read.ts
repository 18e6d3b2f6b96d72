import type { Json, JsonObject } from '../../../lib/json.ts';
import { asObject, isObject, parseJson } from '../../../lib/json.ts';
import { sha256 } from '../../../lib/node-pure.ts';
import { VendorFailure } from './vendor.ts';

/** Where a list is in an answer, and how much of it was asked for. */
export interface ListPlace {
  readonly member: string;
  readonly host: string;
  readonly most: number;
}

/**
 * The list in an answer. Throws `VendorFailure` when there is none, as a page without a list is no empty page, and when it is
 * longer than what was asked for.
 */
export function listIn(body: Json, place: ListPlace): readonly JsonObject[] {
  // Each was looked at.
  return listOf(body, place, isObject) as readonly JsonObject[];
}

/** A list of texts, such as ids. Throws `VendorFailure` as `listIn` does. */
export function textsIn(body: Json, place: ListPlace): readonly string[] {
  // Each was looked at.
  return listOf(body, place, isShortText) as readonly string[];
}

function listOf(body: Json, { member, host, most }: ListPlace, isItem: (item: Json) => boolean): readonly Json[] {
  const list = isObject(body) ? asObject(body)[member] : undefined;
  // The length comes first: a list that is too long is not looked at.
  if (Array.isArray(list) && list.length > most)
    throw new VendorFailure(
      `${host} answers with a list \`${member}\` of ${list.length}, although at most ${most} were asked for`,
    );
  if (Array.isArray(list) && list.every(isItem)) return list;
  throw new VendorFailure(`${host} answers without the list \`${member}\` that its interface describes`);
}

/** Names and states are short: what is longer is none. */
const longestText = 2048;

/** More pages than any product has. */
const mostPages = 20_000;

/**
 * Called with what names each page after the first, it throws `VendorFailure` when one comes for the second time, and when
 * there is no end of them: pages without devices would otherwise be read for ever.
 */
export function demandProgress(host: string): (place: string) => void {
  const seen = new Set<string>();
  return (place) => {
    // Of places, which the product makes as long as it likes, the sums are kept.
    const sum = sha256(place);
    if (seen.has(sum)) throw new VendorFailure(`${host} answers a page that leads back to one before it`);
    if (seen.size === mostPages) throw new VendorFailure(`${host} answers more than ${mostPages} pages`);
    seen.add(sum);
  };
}

/** The member if it is a text, otherwise an empty one. */
export function textIn(object: JsonObject, member: string): string {
  const value = object[member];
  return isShortText(value) ? value : '';
}

function isShortText(value: Json | undefined): value is string {
  return typeof value === 'string' && value.length <= longestText;
}

/** The moment in a member (ISO 8601); `undefined` when there is none. */
export function momentIn(object: JsonObject, member: string): string | undefined {
  const ms = Date.parse(textIn(object, member));
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString();
}

/** When a token ends that says so itself, as those in the form of a JWT do. */
export function endOfToken(token: string): string | undefined {
  const [, claims = '', ...others] = token.split('.');
  if (others.length !== 1) return undefined;
  const { exp } = claimsOf(claims);
  return typeof exp === 'number' && exp > 0 && exp < 1e11 ? new Date(exp * 1000).toISOString() : undefined;
}

/** Nothing when it is no JSON: any text may have two dots. */
function claimsOf(text: string): JsonObject {
  try {
    return asObject(parseJson(Buffer.from(text, 'base64url').toString('utf8')));
  } catch {
    return {};
  }
}

/** The object in a member; an empty one when there is none. */
export function objectIn(object: Json | undefined, member: string): JsonObject {
  const value = isObject(object) ? asObject(object)[member] : undefined;
  return isObject(value) ? asObject(value) : {};
}

/** A URL below an address that people gave, whatever its end. */
export function urlBelow(base: string, path: string, query: Readonly<Record<string, string>> = {}): URL {
  const url = new URL(`${base.replace(/\/+$/, '')}${path}`);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url;
}

/** Each fault whose condition holds. */
export function faultsOf(...faults: readonly (string | false | undefined)[]): readonly string[] {
  return faults.filter((fault) => typeof fault === 'string');
}
