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
  if (isList(value)) return value.map((item: Json) => sortedJson(item));
  const result: Record<string, Json> = {};
  for (const name of Object.keys(value).sort()) {
    const member = value[name];
    if (member !== undefined) result[name] = sortedJson(member);
  }
  return result;
}

/** Deep equality of JSON values; the order of members does not matter, the order of lists does. */
export function equalJson(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (a === undefined || b === undefined || a === null || b === null) return false;
  if (typeof a !== 'object' || typeof b !== 'object') return false;
  if (isList(a)) return isList(b) && a.length === b.length && a.every((item, index) => equalJson(item, b[index]));
  if (isList(b)) return false;
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => name in b && equalJson(a[name], b[name]));
}

/** The value of a JSON text. Throws `SyntaxError`. */
export function parseJson(text: string): Json {
  return JSON.parse(text);
}

/** Whether a JSON value is a list. `Array.isArray` does not narrow readonly lists. */
function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** The members of a value; what is no object has none. */
export function membersOf(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}

/** A value that its declaration says is an object; any other is a fault of the program or of what was stored. */
export function asObject(value: Json | undefined): JsonObject {
  if (isObject(value)) return value;
  throw new TypeError(`an object was expected, not ${typeOf(value)}`);
}

/** A value that its declaration says is a list. */
export function asList(value: Json | undefined): readonly Json[] {
  if (isList(value)) return value;
  throw new TypeError(`a list was expected, not ${typeOf(value)}`);
}

/** A value that its declaration says is a list of objects. */
export function asObjects(value: Json | undefined): readonly JsonObject[] {
  const list = asList(value);
  if (list.every((item) => isObject(item))) return list;
  throw new TypeError('a list of objects was expected');
}

/** A value that its declaration says is a list of texts. */
export function asTexts(value: Json | undefined): readonly string[] {
  const list = asList(value);
  if (list.every((item) => typeof item === 'string')) return list;
  throw new TypeError('a list of texts was expected');
}

/** The names of the members of a record that has no others than its type says. */
export function namesOf<R extends object>(record: R): readonly (keyof R & string)[] {
  // A type may have fewer members than the value; this is for those that were written down as a whole.
  return Object.keys(record) as (keyof R & string)[];
}

/** What a value is, without showing it. */
function typeOf(value: Json | undefined): string {
  return value === null ? 'null' : isList(value) ? 'a list' : typeof value;
}

export function isObject(value: unknown): value is { readonly [member: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A JSON pointer (RFC 6901) one step further in; names may hold `/` and `~`. */
export function pointerTo(pointer: string, name: string): string {
  return `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}
