import type { Json, JsonObject } from '../../../lib/json.ts';
import { asObject, isObject } from '../../../lib/json.ts';
import { VendorFailure } from './vendor.ts';

/** The list in a member of an answer. Throws `VendorFailure` when there is none: a page without a list is no empty page. */
export function listIn(body: Json, member: string, host: string): readonly JsonObject[] {
  const list = isObject(body) ? asObject(body)[member] : undefined;
  if (!Array.isArray(list) || !list.every((item) => isObject(item)))
    throw new VendorFailure(`${host} answers without the list \`${member}\` that its interface describes`);
  // Each was looked at.
  return list as readonly JsonObject[];
}

/** The member if it is a text, otherwise an empty one. */
export function textIn(object: JsonObject, member: string): string {
  const value = object[member];
  return typeof value === 'string' ? value : '';
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
