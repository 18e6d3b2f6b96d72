import { asList, asObject, asObjects, type Json, type JsonObject } from '../../lib/json.ts';
import type { StoredObject } from '../state/object.ts';
import { elementName, keyedEntries } from './entries.ts';
import type { AnyField, Fields } from './field.ts';
import { topLevelField } from './given-defaults.ts';

/**
 * Spellings in which texts were last written, where they differ from the canonical spelling: path of a text, of a set
 * of texts or of a map to pairs of the canonical text (as `elementName` shortens it) and the written one. For a map the
 * texts are the names of its members. The spec itself stays canonical, so comparisons of specs ignore spellings.
 */
export type Spellings = Readonly<Record<string, readonly Spelling[]>>;

type Spelling = readonly [canonical: string, written: string];

/** Collects spellings by path. */
export type SpellingRecorder = Record<string, Spelling[]>;

/** Member of `derived` that holds the spellings. */
export const spellingsMember = 'spellings';

/** Returns the spellings of an object; empty when none are stored. */
export function spellingsOf({ derived }: Pick<StoredObject, 'derived'>): Spellings {
  // The cast is safe: only `withSpellings` writes this member.
  return (derived[spellingsMember] ?? {}) as Spellings;
}

/** Records how a text was written. The first spelling of a text counts when a set contains several. */
export function recordSpelling(recorder: SpellingRecorder, path: string, canonical: string, written: string): void {
  if (canonical === written) return;
  recorder[path] ??= [];
  recorder[path].push([elementName(canonical), written]);
}

/**
 * Returns the object with its spellings updated for the written fields (`isWritten`). Other fields keep their
 * spellings.
 */
export function withSpellings(
  object: StoredObject,
  written: Spellings,
  isWritten: (field: string) => boolean,
): StoredObject {
  const known = spellingsOf(object);
  const kept = Object.entries(known).filter(([path]) => !isWritten(topLevelField(path)));
  const added = Object.entries(written).filter(([path]) => isWritten(topLevelField(path)));
  const all = Object.fromEntries([...kept, ...added]);
  const { [spellingsMember]: _, ...derived } = object.derived;
  if (Object.keys(all).length === 0) return Object.keys(known).length === 0 ? object : { ...object, derived };
  return { ...object, derived: { ...derived, [spellingsMember]: all } };
}

/**
 * Returns a canonical spec with its texts as they were last written, as answers show them. A text that has changed
 * since then is shown in its canonical spelling.
 */
export function inWrittenSpelling(fields: Fields, spec: JsonObject, spellings: Spellings): JsonObject {
  const entries = Object.entries(spellings);
  if (entries.length === 0) return spec;
  // Reversed, because the first spelling of a text counts.
  const byPath = new Map(entries.map(([path, pairs]) => [path, new Map([...pairs].reverse())]));
  return spellFields(fields, spec, byPath, '');
}

type SpellingsByPath = ReadonlyMap<string, ReadonlyMap<string, string>>;

function spellFields(fields: Fields, spec: JsonObject, spellings: SpellingsByPath, prefix: string): JsonObject {
  return mapEntries(spec, (name, value) => {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    return [name, field === undefined ? value : spellValue(field, value, spellings, `${prefix}${name}`)];
  });
}

function spellValue(field: AnyField, value: Json, spellings: SpellingsByPath, path: string): Json {
  switch (field.type) {
    case 'string':
      return typeof value === 'string' ? findSpelling(spellings, path, value) : value;
    case 'object':
      return spellFields(field.fields, asObject(value), spellings, `${path}.`);
    case 'keyed':
      return keyedEntries(field.key, asObjects(value)).map(([name, entry]) =>
        spellFields(field.fields, entry, spellings, `${path}[${name}].`),
      );
    case 'list':
      return asList(value).map((item, at) => spellValue(field.of, item, spellings, itemPath(field, path, at)));
    case 'map':
      return mapEntries(asObject(value), (name, item) => [
        findSpelling(spellings, path, name),
        spellValue(field.of, item, spellings, `${path}[${name}]`),
      ]);
    default:
      return value;
  }
}

/** Returns the path of a list item. The texts of a set share the path of the set, because its order has no meaning. */
export function itemPath(field: Extract<AnyField, { readonly type: 'list' }>, path: string, at: number): string {
  return field.set ? path : `${path}[${at}]`;
}

function findSpelling(spellings: SpellingsByPath, path: string, canonical: string): string {
  return spellings.get(path)?.get(elementName(canonical)) ?? canonical;
}

function mapEntries(object: JsonObject, become: (name: string, value: Json) => readonly [string, Json]): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => become(name, value)));
}
