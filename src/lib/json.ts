/** A JSON value. Nothing here is ever edited in place. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [member: string]: Json };

export type JsonObject = { readonly [member: string]: Json };

/** Canonical text of a JSON value (RFC 8785): members sorted by code unit, no white space. Equal values give equal text. */
export function canonicalJson(value: Json | undefined): string {
  if (value === undefined) return 'null';
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const object = value as JsonObject;
  const members = Object.keys(object)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonicalJson(object[name])}`);
  return `{${members.join(',')}}`;
}

/** Deep equality of JSON values; the order of members does not matter, the order of lists does. */
export function equalJson(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (a === undefined || b === undefined || a === null || b === null) return false;
  if (typeof a !== 'object' || typeof b !== 'object') return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  if (Array.isArray(a)) {
    const other = b as readonly Json[];
    return a.length === other.length && a.every((item, index) => equalJson(item, other[index]));
  }
  const left = a as JsonObject;
  const right = b as JsonObject;
  const names = Object.keys(left);
  return names.length === Object.keys(right).length && names.every((name) => name in right && equalJson(left[name], right[name]));
}

export function isObject(value: unknown): value is { readonly [member: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
