import {
  appendPointer,
  asList,
  asObject,
  asObjects,
  countMembers,
  equalJson,
  type Json,
  type JsonObject,
} from '../../lib/json.ts';
import { isLongerThan } from '../../lib/text/length.ts';
import type { Fault, Kind } from '../declare/kind.ts';
import { maxProblems } from '../problem.ts';
import { elementName, isFarTooLong, keyedEntries, type ListOrder } from './entries.ts';
import { type AnyField, type Fields, isEmpty } from './field.ts';
import { entriesOf } from './field-search.ts';
import type { Format } from './format.ts';
import { itemPath, recordSpelling, type SpellingRecorder, type Spellings } from './spelling.ts';

/** A canonical spec, and the values that have no canonical form. */
export interface Normalized {
  readonly spec: JsonObject;
  readonly faults: readonly Fault[];
  /** Written order of the elements of sets and keyed lists. Lists with fewer than two elements are left out. */
  readonly order: ListOrder;
  /** Paths of members that were given their default or an empty value, where answers distinguish given from absent. */
  readonly given: readonly string[];
  /** Texts whose written spelling is not the canonical one. */
  readonly spellings: Spellings;
}

/**
 * Returns the canonical form of a spec whose shape is already validated: defaults filled in, sets sorted and without
 * repeats, scalars in their canonical spelling, `null` removed. Idempotent, and never throws for a validated spec.
 * References are left unchanged.
 */
export function normalize(fields: Fields, spec: JsonObject): Normalized {
  return normalizeIn(fields, spec, false);
}

/**
 * Like `normalize`, but without filling in defaults, except inside values that are one unit (items of lists and maps,
 * keyed entries, `atomic` objects).
 */
export function normalizeStated(fields: Fields, spec: JsonObject): Normalized {
  return normalizeIn(fields, spec, true);
}

function normalizeIn(fields: Fields, spec: JsonObject, stated: boolean): Normalized {
  const faults: Fault[] = [];
  const order = {};
  const given: string[] = [];
  const spellings = {};
  const run = { stated, faults, order, given, spellings };
  return { spec: normalizeFields(fields, spec, run, '', ''), faults, order, given, spellings };
}

/** Returns the default of a field in canonical form, `undefined` without a default. */
export function defaultOf(field: AnyField): Json | undefined {
  const value = field.default ?? field.documentDefault;
  if (value === undefined) return undefined;
  const known = defaultsCache.get(field);
  if (known !== undefined) return known;
  const run = { stated: false, faults: [], order: {}, given: [], spellings: {} };
  const canonical = normalizeValue(field, value, run, '', '');
  if (canonical !== undefined) defaultsCache.set(field, canonical);
  return canonical;
}

/** Safe to cache: neither declarations nor values are ever modified. */
const defaultsCache = new WeakMap<AnyField, Json>();

interface NormalizeContext {
  readonly stated: boolean;
  readonly faults: Fault[];
  readonly order: Record<string, readonly string[]>;
  readonly given: string[];
  readonly spellings: SpellingRecorder;
}

/** `pointer`: JSON pointer of the value in the input. `prefix`: path prefix for what is recorded about it. */
function normalizeFields(
  fields: Fields,
  spec: JsonObject,
  run: NormalizeContext,
  pointer: string,
  prefix: string,
): JsonObject {
  const result: Record<string, Json> = {};
  for (const [name, field] of entriesOf(fields)) {
    const raw = spec[name];
    const value = isAbsent(field, raw)
      ? run.stated
        ? undefined
        : defaultOf(field)
      : normalizeValue(field, raw as Json, run, `${pointer}/${name}`, `${prefix}${name}`);
    if (isExplicitDefault(field, raw, value)) run.given.push(`${prefix}${name}`);
    if (value !== undefined) result[name] = value;
  }
  return result;
}

/** Whether to record that a member was given, because answers would otherwise leave its value out. */
function isExplicitDefault(field: AnyField, raw: Json | undefined, value: Json | undefined): boolean {
  if (raw === undefined || raw === null) return false;
  if (field.omitEmpty === true && isEmpty(raw)) return true;
  return field.omitUnlessGiven === true && !isAbsent(field, raw) && equalJson(value, defaultOf(field));
}

/** `null` always means absent. An empty text means absent for references and for optional texts with a format. */
function isAbsent(field: AnyField, raw: Json | undefined): boolean {
  if (raw === undefined || raw === null) return true;
  if (raw !== '') return false;
  const isText = field.type === 'string' || (field.type === 'secret' && field.read === 'shown');
  return field.type === 'ref' || (isText && field.format !== undefined && field.required !== true);
}

function normalizeValue(
  field: AnyField,
  value: Json,
  run: NormalizeContext,
  pointer: string,
  path: string,
): Json | undefined {
  switch (field.type) {
    case 'string':
      // A text that is too long is refused, or was stored before in its canonical spelling.
      return field.format === undefined || typeof value !== 'string' || isLongerThan(value, field.maxLength ?? Infinity)
        ? value
        : normalizeText(field.format, value, run, pointer, path);
    case 'secret':
    case 'integer':
    case 'boolean':
    case 'enum':
    case 'ref':
    case 'refByType':
    case 'json':
      return value;
    case 'refs':
      return Array.isArray(value) ? sortedSet(value, run, path) : value;
    case 'members':
      return Array.isArray(value) ? sortedSet(value, run, path) : sortedMembers(asObject(value));
    case 'typedRef': {
      const { id, type } = asObject(value);
      return isEmptyText(id) && isEmptyText(type) ? undefined : { id: id ?? '', type: type ?? '' };
    }
    case 'map':
    case 'refMap': {
      const entries = Object.entries(asObject(value)).sort(([a], [b]) => compare(a, b));
      if (field.type === 'map') recordMemberNames(field, entries, run, path);
      return Object.fromEntries(
        entries.map(([key, item]) => [
          key,
          normalizeItem(field.of, item, run, appendPointer(pointer, key), `${path}[${key}]`),
        ]),
      );
    }
    case 'list': {
      const items = asList(value).map((item, at) =>
        normalizeItem(field.of, item, run, `${pointer}/${at}`, itemPath(field, path, at)),
      );
      if (field.unordered === true && items.length > 1) run.order[path] = items.map(elementName);
      return field.set ? sortedSet(items, run, path) : items;
    }
    case 'keyed':
      return normalizeEntries(field, asObjects(value), run, pointer, path);
    case 'object': {
      // An object that is one unit is always stated completely, so its defaults are filled in.
      const inner = field.atomic === true ? { ...run, stated: false } : run;
      return normalizeFields(field.fields, asObject(value), inner, pointer, `${path}.`);
    }
    default:
      return unreachable(field);
  }
}

function normalizeText(format: Format, text: string, run: NormalizeContext, pointer: string, path: string): string {
  // The spec is refused already. Wording a fault may compare the text with a hundred known words.
  if (run.faults.length > maxProblems) return text;
  const result = format.canonical(text);
  if ('fault' in result) {
    run.faults.push({ code: `${format.name}_invalid`, path: pointer, message: result.fault });
    return text;
  }
  if (format.keepsSpelling?.(text) ?? true) recordSpelling(run.spellings, path, result.value, text);
  return result.value;
}

/** Records the alternative spellings of member names. The kind's `canonicalize` resolves them. */
function recordMemberNames(
  { keyAliases }: Extract<AnyField, { readonly type: 'map' }>,
  entries: readonly (readonly [string, Json])[],
  run: NormalizeContext,
  path: string,
): void {
  if (keyAliases === undefined) return;
  for (const [name] of entries)
    if (Object.hasOwn(keyAliases, name)) recordSpelling(run.spellings, path, keyAliases[name] ?? name, name);
}

/** List items are complete values, so their defaults are filled in even when the list is only stated. */
function normalizeItem(field: AnyField, item: Json, run: NormalizeContext, pointer: string, path: string): Json {
  return normalizeValue(field, item, { ...run, stated: false, order: {} }, pointer, path) ?? null;
}

type KeyedField = Extract<AnyField, { readonly type: 'keyed' }>;

function normalizeEntries(
  { key, fields }: KeyedField,
  items: readonly JsonObject[],
  run: NormalizeContext,
  pointer: string,
  path: string,
): readonly JsonObject[] {
  const inner = items.map(() => ({
    order: {} as Record<string, readonly string[]>,
    given: [] as string[],
    spellings: {} as SpellingRecorder,
  }));
  const entries = items.map((item, at) =>
    normalizeFields(fields, item, { ...run, stated: false, ...inner[at] }, `${pointer}/${at}`, ''),
  );
  const names = keyedEntries(key, entries).map(([name]) => name);
  if (names.length > 1) run.order[path] = names;
  for (const [at, name] of names.entries()) {
    const { order = {}, given = [], spellings = {} } = inner[at] ?? {};
    for (const [list, elements] of Object.entries(order)) run.order[`${path}[${name}].${list}`] = elements;
    run.given.push(...given.map((member) => `${path}[${name}].${member}`));
    for (const [text, written] of Object.entries(spellings)) run.spellings[`${path}[${name}].${text}`] = written;
  }
  return sortEntries(key, entries);
}

function sortedSet(items: readonly Json[], run?: NormalizeContext, path = ''): readonly Json[] {
  const unique = [...new Set(items)];
  if (run !== undefined && unique.length > 1) run.order[path] = unique.map(elementName);
  return unique.sort((a, b) =>
    typeof a === 'number' && typeof b === 'number' ? a - b : compare(String(a), String(b)),
  );
}

/**
 * Whether a list or map has more than `most` entries in its canonical form, in which sets have no repeats. Stops counting
 * at the limit. Entries of a list that is far too long are not read.
 */
export function hasMoreEntries(field: AnyField | undefined, value: object, most: number): boolean {
  const isSet = field?.type === 'refs' || (field?.type === 'list' && field.set);
  if (countMembers(value) <= most || !isSet || !Array.isArray(value)) return countMembers(value) > most;
  if (isFarTooLong(value, most)) return true;
  const run = { stated: false, faults: [], order: {}, given: [], spellings: {} };
  const found = new Set<Json>();
  for (const item of new Set<Json>(value)) {
    found.add(field.type === 'list' ? normalizeItem(field.of, item, run, '', '') : item);
    if (found.size > most) return true;
  }
  return false;
}

function sortedMembers(value: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => compare(a, b))
      .map(([id, origins]) => [id, sortedSet(asList(origins))]),
  );
}

function sortEntries(key: string, entries: readonly JsonObject[]): readonly JsonObject[] {
  return [...entries].sort((a, b) => compare(String(a[key]), String(b[key])));
}

function isEmptyText(value: Json | undefined): boolean {
  return value === undefined || value === null || value === '';
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function unreachable(field: never): never {
  throw new Error(`no such field type: ${JSON.stringify(field)}`);
}

/**
 * Returns the canonical full spec of a kind: `normalize`, then the kind's own `canonicalize` (for example a spelling
 * that depends on another field).
 */
export function canonicalSpec(kind: Kind, spec: JsonObject): Normalized {
  return applyCanonicalize(kind, normalize(kind.spec, spec));
}

/** Returns the canonical form of the stated fields of a kind; see `normalizeStated`. */
export function canonicalStated(kind: Kind, spec: JsonObject): Normalized {
  return applyCanonicalize(kind, normalizeStated(kind.spec, spec));
}

function applyCanonicalize(kind: Kind, normalized: Normalized): Normalized {
  if (kind.canonicalize === undefined) return normalized;
  // The casts are safe: the hook takes and returns the typed view of the same canonical spec.
  const spec = kind.canonicalize(normalized.spec as never) as JsonObject;
  return { ...normalized, spec, spellings: { ...normalized.spellings, ...changedTexts(normalized.spec, spec) } };
}

/** Returns the spellings of top-level texts that `canonicalize` changed. */
function changedTexts(before: JsonObject, after: JsonObject): Spellings {
  const spellings: SpellingRecorder = {};
  for (const [name, value] of Object.entries(after)) {
    const written = before[name];
    if (typeof value === 'string' && typeof written === 'string') recordSpelling(spellings, name, value, written);
  }
  return spellings;
}
