import { isObject, type Json, type JsonObject } from '../../src/lib/json.ts';

/** A spec with one change. */
export interface Mutant {
  readonly spec: JsonObject;
  /** The change and its path, such as `remove /rules/0/action`. */
  readonly change: string;
}

/** Returns a random number generator (mulberry32) for numbers from 0 to 1. The same seed gives the same numbers. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Returns a spec with one mistake of a kind that users make, or `undefined` when the spec has nothing to change. */
export function mutate(spec: JsonObject, random: () => number): Mutant | undefined {
  const paths = pathsIn(spec, []);
  const path = pick(paths, random);
  const [name, change] = pick(Object.entries(changes), random) ?? [];
  if (path === undefined || change === undefined) return undefined;
  const changed = changeAt(spec, path, (value, container) => change(value, container, random));
  // A change within the root leaves the root an object.
  return { spec: changed as JsonObject, change: `${name} /${path.join('/')}` };
}

type Step = string | number;

/**
 * Returns the members that replace one member of its container, as pairs of name and value; in a list, of index and
 * value.
 */
type Change = (value: Json, key: Step, random: () => number) => readonly (readonly [Step, Json])[];

const texts = [
  '',
  'x',
  'No Such Thing',
  'UPPER',
  '0',
  '65536',
  '-1',
  '10.0.0.1',
  '10.0.0.1/8',
  'a'.repeat(5000),
  '*.b',
];
const numbers = [-1, 0, 1, 1.5, 53, 65_535, 65_536, 2_147_483_648, 1e15];

const changes: Readonly<Record<string, Change>> = {
  remove: () => [],
  null: (_, key) => [[key, null]],
  rename: (value, key) => [[typeof key === 'number' ? key : `${key}s`, value]],
  misspell: (value, key) => [[typeof key === 'number' ? key : key.slice(0, -1) || 'x', value]],
  add: (value, key) => [
    [key, value],
    [typeof key === 'number' ? key + 1 : 'unknown_member', value],
  ],
  text: (_, key, random) => [[key, pick(texts, random) ?? '']],
  number: (_, key, random) => [[key, pick(numbers, random) ?? 0]],
  flip: (value, key) => [[key, typeof value === 'boolean' ? !value : true]],
  list: (value, key) => [[key, [value]]],
  object: (value, key) => [[key, { value }]],
  empty: (value, key) => [[key, Array.isArray(value) ? [] : isObject(value) ? {} : '']],
  upper: (value, key) => [[key, typeof value === 'string' ? value.toUpperCase() : value]],
  space: (value, key) => [[key, typeof value === 'string' ? ` ${value} ` : value]],
  grow: (value, key) => [[key, typeof value === 'number' ? value * 100_000 : value]],
  repeat: (value, key) => [[key, Array.isArray(value) ? [...value, ...value] : value]],
};

function pathsIn(value: Json, path: readonly Step[]): readonly (readonly Step[])[] {
  const inside: readonly (readonly [Step, Json])[] = Array.isArray(value)
    ? value.map((item: Json, at) => [at, item])
    : isObject(value)
      ? Object.entries(value as JsonObject)
      : [];
  const here = inside.map(([step]) => [...path, step]);
  return [...here, ...inside.flatMap(([step, inner]) => pathsIn(inner, [...path, step]))];
}

function changeAt(
  value: Json,
  path: readonly Step[],
  change: (value: Json, key: Step) => readonly (readonly [Step, Json])[],
): Json {
  const [step, ...rest] = path;
  const replaced = (key: Step, inner: Json) =>
    key !== step
      ? [[key, inner] as const]
      : rest.length === 0
        ? change(inner, key)
        : [[key, changeAt(inner, rest, change)] as const];
  if (Array.isArray(value)) return value.flatMap((item: Json, at) => replaced(at, item).map(([, inner]) => inner));
  const members = Object.entries(value as JsonObject).flatMap(([key, inner]) => replaced(key, inner));
  return Object.fromEntries(members.map(([key, inner]) => [String(key), inner]));
}

function pick<T>(items: readonly T[], random: () => number): T | undefined {
  return items[Math.floor(random() * items.length)];
}
