/** A JSON value. Values are never changed in place. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [member: string]: Json };

export type JsonObject = { readonly [member: string]: Json };

/**
 * Returns the canonical text of a JSON value: members in a fixed order, no white space. Equal values have equal texts.
 */
export function canonicalJson(value: Json | undefined): string {
  return JSON.stringify(sortedJson(value ?? null));
}

/**
 * Returns the value with its members sorted by name. JavaScript always puts integer-like names first, but that order is
 * fixed too.
 */
export function sortedJson<Value extends Json>(value: Value): Value;
export function sortedJson(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (isList(value)) return value.map(sortedItem);
  const result: Record<string, Json> = {};
  const names = Object.keys(value);
  // Most names are sorted already, and sorting copies the array.
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

/** Checks two JSON values for deep equality. The order of members does not matter, the order of list items does. */
export function equalJson(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (a === undefined || b === undefined || a === null || b === null) return false;
  if (typeof a !== 'object' || typeof b !== 'object') return false;
  if (isList(a)) return isList(b) && equalItems(a, b);
  return !isList(b) && equalMembers(a, b);
}

// Uses loops, because this runs for every value of every plan and callbacks would be slower.
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

/** Parses a JSON text. Throws `SyntaxError`. */
export function parseJson(text: string): Json {
  return JSON.parse(text);
}

/** Checks whether a JSON value is a list. `Array.isArray` does not narrow readonly lists. */
function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** Returns the value as an object, or an empty object when it is not one. */
export function asObjectOrEmpty(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}

/**
 * Returns the value as a text, or an empty text when it is not one. Unlike `String`, never fails: converting an object
 * calls its `toString`, which input may contain.
 */
export function asTextOrEmpty(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

/**
 * Returns a value that is declared to be an object. Throws `TypeError` for anything else, which means a bug or corrupt
 * stored data.
 */
export function asObject(value: Json | undefined): JsonObject {
  if (isObject(value)) return value;
  throw new TypeError(`an object was expected, not ${typeOf(value)}`);
}

/** Returns a value that is declared to be a list. Throws `TypeError` for anything else. */
export function asList(value: Json | undefined): readonly Json[] {
  if (isList(value)) return value;
  throw new TypeError(`a list was expected, not ${typeOf(value)}`);
}

/** Returns a value that is declared to be a list of objects. Throws `TypeError` for anything else. */
export function asObjects(value: Json | undefined): readonly JsonObject[] {
  const list = asList(value);
  if (list.every((item) => isObject(item))) return list;
  throw new TypeError('a list of objects was expected');
}

/** Returns a value that is declared to be a list of strings. Throws `TypeError` for anything else. */
export function asTexts(value: Json | undefined): readonly string[] {
  const list = asList(value);
  if (list.every((item) => typeof item === 'string')) return list;
  throw new TypeError('a list of texts was expected');
}

/** Numbers of members that were counted. Safe to keep: values are never changed in place. */
const memberCounts = new WeakMap<object, number>();

/**
 * Returns the number of members of an object, or of entries of a list. Counting 70,000 members takes 30 ms, so the
 * number is kept.
 */
export function countMembers(value: object): number {
  if (Array.isArray(value)) return value.length;
  const count = memberCounts.get(value) ?? Object.keys(value).length;
  memberCounts.set(value, count);
  return count;
}

/** Returns the member names of a record. The record must not have more members than its type declares. */
export function keysOf<R extends object>(record: R): readonly (keyof R & string)[] {
  // In general a value may have more members than its type. This function is for records that are written out in full.
  return Object.keys(record) as (keyof R & string)[];
}

/** Returns the type of a value for messages, without revealing the value. */
function typeOf(value: Json | undefined): string {
  return value === null ? 'null' : isList(value) ? 'a list' : typeof value;
}

export function isObject(value: unknown): value is { readonly [member: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Appends a name to a JSON pointer (RFC 6901). The name may contain `/` and `~`. */
export function appendPointer(pointer: string, name: string): string {
  return `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}
