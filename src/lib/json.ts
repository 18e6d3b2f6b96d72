/** A JSON value. Nothing here is ever edited in place. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [member: string]: Json };

export type JsonObject = { readonly [member: string]: Json };

/** Canonical text of a JSON value: members in one fixed order, no white space. Equal values give equal text. */
export function canonicalJson(value: Json | undefined): string {
  return JSON.stringify(sortedJson(value ?? null));
}

/** The same value with its members in order (the engine puts integer-like names first, whatever we do, which is an order too). */
export function sortedJson<Value extends Json>(value: Value): Value;
export function sortedJson(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item: Json) => sortedJson(item));
  const object = value as JsonObject;
  const result: Record<string, Json> = {};
  for (const name of Object.keys(object).sort()) result[name] = sortedJson(object[name] as Json);
  return result;
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
  return (
    names.length === Object.keys(right).length &&
    names.every((name) => name in right && equalJson(left[name], right[name]))
  );
}

export function isObject(value: unknown): value is { readonly [member: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
