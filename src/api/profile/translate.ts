import { appendPointer, equalJson, isObject, type Json, type JsonObject } from '../../lib/json.ts';
import type { Problem } from '../../model/problem.ts';
import { noDifferences, type Shape } from './shape.ts';
import type { LimitRow, WordRow } from './table.ts';

/** Translates a value of the specification to the profile. */
export function toProfile(shape: Shape, value: Json): Json {
  if (Array.isArray(value)) return value.map((item: Json) => toProfile(shape.items ?? leafOf(shape), item));
  if (!isObject(value)) return leafToProfile(shape, value);
  return mapMembers(value as JsonObject, (name, member) => {
    const inner = shape.members.get(name);
    const theirs = shape.renamed.find(({ ours }) => ours === name)?.theirs ?? name;
    return [theirs, inner === undefined ? member : toProfile(inner, member)];
  });
}

/** Findings of the translation of a request. */
interface Findings {
  /** Problems for members that are given under both names with different values. */
  readonly problems: Problem[];
  /** JSON pointers of members to which the limits do not apply. */
  readonly unlimited: string[];
}

/** Translates a value in a request to the specification. */
export function toSpecification(shape: Shape, value: Json, findings: Findings, pointer = ''): Json {
  if (Array.isArray(value)) {
    const inner = shape.items ?? leafOf(shape);
    return value.map((item: Json, at) => toSpecification(inner, item, findings, `${pointer}/${at}`));
  }
  if (!isObject(value)) return leafToSpecification(shape, value);
  const object = value as JsonObject;
  for (const row of shape.limits) {
    const value = object[row.member];
    if (typeof value !== 'number') continue;
    findings.unlimited.push(appendPointer(pointer, row.member));
    if (value < row.min || value > row.max) findings.problems.push(outOfRange(row, pointer));
  }
  const translated = mapMembers(object, (name, member) => {
    const row = shape.renamed.find(({ theirs }) => theirs === name);
    const ours = row?.ours ?? name;
    if (row !== undefined && contradicts(object[ours], member)) findings.problems.push(clash(row, pointer));
    const inner = shape.members.get(ours);
    return [
      ours,
      inner === undefined ? member : toSpecification(inner, member, findings, appendPointer(pointer, ours)),
    ];
  });
  const absent = shape.defaults.filter(({ member }) => (translated[member] ?? null) === null);
  return absent.length === 0
    ? translated
    : { ...translated, ...Object.fromEntries(absent.map(({ member, value: given }) => [member, given])) };
}

/** Whether two values contradict each other. `null` counts as absent. */
function contradicts(one: Json | undefined, other: Json): boolean {
  return one !== undefined && one !== null && other !== null && !equalJson(one, other);
}

function clash({ theirs }: { readonly theirs: string }, pointer: string): Problem {
  return {
    code: 'field_repeated',
    path: appendPointer(pointer, theirs),
    message: `\`${theirs}\` is also given under its name in the specification, with another value; send only one of them`,
  };
}

function outOfRange({ member, min, max, doc }: LimitRow, pointer: string): Problem {
  const message = `\`${member}\` must be from ${min} to ${max}; ${doc}`;
  return { code: 'value_out_of_range', path: appendPointer(pointer, member), message };
}

/**
 * Returns an object with translated members. When two members get the same name, a `null` does not replace the other
 * value.
 */
function mapMembers(object: JsonObject, become: (name: string, member: Json) => readonly [string, Json]): JsonObject {
  const members = new Map<string, Json>();
  for (const [name, member] of Object.entries(object)) {
    const [newName, value] = become(name, member);
    if (value !== null || !members.has(newName)) members.set(newName, value);
  }
  return Object.fromEntries(members);
}

/** Returns the differences of each text in a list: they are those of the list. */
function leafOf({ words, isText }: Shape): Shape {
  return { ...noDifferences, words, isText };
}

function leafToProfile({ words, isText }: Shape, value: Json): Json {
  if (isText && typeof value === 'number') return String(value);
  return typeof value === 'string' ? replaced(words, value, ({ ours, theirs }) => [ours, theirs]) : value;
}

function leafToSpecification({ words }: Shape, value: Json): Json {
  return typeof value === 'string' ? replaced(words, value, ({ ours, theirs }) => [theirs, ours]) : value;
}

function replaced(words: readonly WordRow[], value: string, pair: (row: WordRow) => readonly [string, string]): string {
  for (const row of words) {
    const [from, to] = pair(row);
    if (value === from) return to;
    if (row.prefix === true && value.startsWith(from)) return `${to}${value.slice(from.length)}`;
  }
  return value;
}
