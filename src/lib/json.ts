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
  if (isList(value)) return value.map(sortedItem);
  const result: Record<string, Json> = {};
  const names = Object.keys(value);
  // As most are: sorting copies what it sorts.
  if (!isSorted(names)) names.sort();
  for (const name of names) {
    const member = value[name];
    if (member !== undefined) result[name] = sortedJson(member);
  }
  return result;
}

function sortedItem(item: Json): Json {
  return sortedJson(item);
}

function isSorted(names: readonly string[]): boolean {
  for (let at = 1; at < names.length; at += 1) if (String(names[at - 1]) > String(names[at])) return false;
  return true;
}

/** Deep equality of JSON values; the order of members does not matter, the order of lists does. */
export function equalJson(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (a === undefined || b === undefined || a === null || b === null) return false;
  if (typeof a !== 'object' || typeof b !== 'object') return false;
  if (isList(a)) return isList(b) && equalItems(a, b);
  return !isList(b) && equalMembers(a, b);
}

// Loops, as above: both are called for every value of every plan, and functions that are called back cost more.
function equalItems(a: readonly Json[], b: readonly Json[]): boolean {
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at += 1) if (!equalJson(a[at], b[at])) return false;
  return true;
}

function equalMembers(a: JsonObject, b: JsonObject): boolean {
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  for (const name of names) if (!(name in b && equalJson(a[name], b[name]))) return false;
  return true;
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
