import { asList, asObject, asObjects, equalJson, type Json, type JsonObject } from '../../lib/json.ts';
import type { StoredObject } from '../state/object.ts';
import { elementName, keyedEntries } from './entries.ts';
import { type AnyField, type Fields, isGranular } from './field.ts';
import { entriesOf } from './field-search.ts';
import { givenDefaultsMember, givenDefaultsOf, topLevelField, withGivenDefaults } from './given-defaults.ts';
import type { Normalized } from './normalize.ts';
import { itemPath, spellingsMember, spellingsOf, withSpellings } from './spelling.ts';

/** What is recorded about how a spec was written, because its canonical form does not show it. */
export type WrittenForm = Pick<Normalized, 'given' | 'spellings'>;

/** Members of `derived` that hold the written form. */
export const writtenFormMembers: readonly string[] = [givenDefaultsMember, spellingsMember];

/** Returns the written form of an object. */
export function writtenFormOf(object: StoredObject): WrittenForm {
  return { given: [...givenDefaultsOf(object)], spellings: spellingsOf(object) };
}

/**
 * Returns the object with the written form of its changed fields (`isChanged`) updated. Texts and values that `before`
 * has at the same path stay as they were written, because a document states only parts of a field, and one that repeats
 * a value changes nothing. `written` applies to all others.
 */
export function withWrittenForm(
  fields: Fields,
  before: StoredObject | undefined,
  after: StoredObject,
  written: WrittenForm,
  isChanged: (field: string) => boolean,
): StoredObject {
  const known = writtenFormOf(after);
  const recorded = [known, written].flatMap(({ given, spellings }) => [...given, ...Object.keys(spellings)]);
  const paths = new Set(recorded.filter((path) => isChanged(topLevelField(path))));
  if (paths.size === 0) return after;
  const was = findValues(fields, before?.spec, paths);
  const is = findValues(fields, after.spec, paths);
  // The spec does not contain memberships. This one has changed.
  const isKept = (path: string) =>
    fields[path]?.type !== 'members' && was.units.has(path) && equalJson(was.units.get(path), is.units.get(path));
  const given = [...known.given.filter(isKept), ...written.given.filter((path) => !isKept(path))];
  const spellings = [...paths].map((path) => {
    const stays = ([text]: readonly [string, string]) => was.texts.get(path)?.has(text) === true;
    const kept = (known.spellings[path] ?? []).filter(stays);
    const stated = (written.spellings[path] ?? []).filter((pair) => !stays(pair));
    return [path, [...kept, ...stated].filter(([text]) => is.texts.get(path)?.has(text) === true)] as const;
  });
  const present = Object.fromEntries(spellings.filter(([, pairs]) => pairs.length > 0));
  return withSpellings(withGivenDefaults(after, given, isChanged), present, isChanged);
}

/** What a spec contains at some of the paths by which its written form is recorded. */
interface ValuesByPath {
  /** Value of the smallest part around the path that is always stated completely. */
  readonly units: Map<string, Json | undefined>;
  /** Texts, or names of the members of a map, as `elementName` shortens them. */
  readonly texts: Map<string, Set<string>>;
}

function findValues(fields: Fields, spec: JsonObject | undefined, paths: ReadonlySet<string>): ValuesByPath {
  const values: ValuesByPath = { units: new Map(), texts: new Map() };
  if (spec !== undefined) visitFields({ values, paths }, fields, spec, '');
  return values;
}

interface Search {
  readonly values: ValuesByPath;
  readonly paths: ReadonlySet<string>;
  /** Value of the part around the visited path that is always stated completely. Absent: the value itself is one. */
  readonly unit?: Json;
}

function visitFields(search: Search, fields: Fields, spec: JsonObject, prefix: string): void {
  for (const [name, field] of entriesOf(fields)) {
    const path = `${prefix}${name}`;
    if (search.paths.has(path)) search.values.units.set(path, search.unit ?? spec[name]);
    visitValue(search, field, spec[name], path);
  }
}

function visitValue(search: Search, field: AnyField, value: Json | undefined, path: string): void {
  const within = (unit: Json): Search => ({ ...search, unit: search.unit ?? unit });
  if (field.type === 'object') {
    const inner = isGranular(field) || value === undefined ? search : within(value);
    visitFields(inner, field.fields, asObject(value ?? {}), `${path}.`);
  } else if (field.type === 'string' && typeof value === 'string') addText(search, path, value);
  else if (value === undefined) return;
  else if (field.type === 'keyed')
    for (const [name, entry] of keyedEntries(field.key, asObjects(value)))
      visitFields(within(entry), field.fields, entry, `${path}[${name}].`);
  else if (field.type === 'list')
    for (const [at, item] of asList(value).entries())
      visitValue(within(item), field.of, item, itemPath(field, path, at));
  else if (field.type === 'map')
    for (const [name, item] of Object.entries(asObject(value))) {
      addText(search, path, name);
      visitValue(within(item), field.of, item, `${path}[${name}]`);
    }
}

function addText({ values: { texts }, paths }: Search, path: string, text: string): void {
  if (!paths.has(path)) return;
  const known = texts.get(path) ?? new Set();
  texts.set(path, known.add(elementName(text)));
}
