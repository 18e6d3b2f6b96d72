import { isTurn } from './steps.ts';

/** A list with more items than this is of small things, as a rule; the items of a shorter one are taken apart too. */
const fewItems = 32;

/** Deeper than this everything is small. */
const deepest = 5;

/** What has fewer parts than this is made at once, in a fraction of a millisecond: each part of its own costs ten times as much. */
const fewParts = 1000;

/** So many characters count as a part. */
const charactersOfPart = 256;

/** The text that `JSON.stringify` makes of plain data, made in parts when there are many. Yields now and then. */
export function* jsonInSteps(value: unknown): Generator<undefined, string> {
  if (partsLeft(value, fewParts) > 0) return JSON.stringify(value) ?? 'null';
  return (yield* textOf(value, 0)) ?? 'null';
}

/** How many parts are left of so many when those of a value are taken away; not more than those are looked at. */
function partsLeft(value: unknown, parts: number): number {
  if (typeof value === 'string') return parts - 1 - Math.floor(value.length / charactersOfPart);
  if (typeof value !== 'object' || value === null) return parts - 1;
  let left = parts - 1;
  for (const member of Array.isArray(value) ? value : Object.values(value)) {
    if (left <= 0) return 0;
    left = partsLeft(member, left);
  }
  return left;
}

/** As `JSON.stringify`: what has no text is left out of objects, and `null` in lists. */
function* textOf(value: unknown, depth: number): Generator<undefined, string | undefined> {
  if (depth < deepest && Array.isArray(value)) return yield* listText(value, depth);
  if (depth < deepest && isPlain(value)) return yield* objectText(value, depth);
  return JSON.stringify(value);
}

function* listText(items: readonly unknown[], depth: number): Generator<undefined, string> {
  let text = '';
  for (let at = 0; at < items.length; at++) {
    if (isTurn(at)) yield undefined;
    const item = items.length > fewItems ? JSON.stringify(items[at]) : yield* textOf(items[at], depth + 1);
    text += `${at === 0 ? '' : ','}${item ?? 'null'}`;
  }
  return `[${text}]`;
}

function* objectText(object: object, depth: number): Generator<undefined, string> {
  let text = '';
  let at = 0;
  for (const [name, member] of Object.entries(object)) {
    if (isTurn(at++)) yield undefined;
    const part = yield* textOf(member, depth + 1);
    if (part !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${part}`;
  }
  return `{${text}}`;
}

/** Whatever says itself how it is written, such as a date, is left to it. */
function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
