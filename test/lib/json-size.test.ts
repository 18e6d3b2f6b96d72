import { describe, expect, it } from 'vitest';
import { measureJson } from '../../src/lib/json-size.ts';

const unlimited = { values: Number.POSITIVE_INFINITY, depth: Number.POSITIVE_INFINITY };
const measure = (text: string, limits = unlimited) => measureJson(Buffer.from(text), limits);

/** Returns the number of values and the depth of a parsed text. */
function sizeOf(value: unknown): { readonly values: number; readonly depth: number } {
  if (typeof value !== 'object' || value === null) return { values: 1, depth: 0 };
  const inner = Object.values(value).map(sizeOf);
  return {
    values: inner.reduce((sum, { values }) => sum + values, 1),
    depth: 1 + Math.max(0, ...inner.map(({ depth }) => depth)),
  };
}

describe('measureJson', () => {
  it.each([
    ['a number', '1'],
    ['a list', '[1, 2, 3]'],
    ['an empty list', '[]'],
    ['empty lists', '[[],[],[{}]]'],
    ['objects', '{"a": {"b": [1, {"c": null}]}, "d": true}'],
    ['brackets, braces, commas and quotes in strings', '{"[{,\\"": "}],\\\\", "b": ["\\\\\\"[[[["]}'],
    ['other characters', '{"ü": "長い [", "Ż{": ["😀", "["]}'],
  ])('returns the depth of %s, and at least the number of values', (_, text) => {
    const { values, depth } = measure(text);
    const exact = sizeOf(JSON.parse(text));
    expect(depth).toBe(exact.depth);
    expect(values).toBeGreaterThanOrEqual(exact.values);
    expect(values).toBeLessThanOrEqual(2 * exact.values);
  });

  it('counts texts that are not JSON', () => {
    expect(measure('[[[')).toEqual({ values: 4, depth: 3 });
    expect(measure('"[[[')).toEqual({ values: 1, depth: 0 });
    expect(measure('"\\')).toEqual({ values: 1, depth: 0 });
    expect(measure(']]][')).toEqual({ values: 2, depth: 0 });
    expect(measure('')).toEqual({ values: 1, depth: 0 });
  });

  it('stops when a number is above its limit', () => {
    expect(measure('['.repeat(1000), { values: 5000, depth: 10 })).toEqual({ values: 12, depth: 11 });
    expect(measure(`[${'1,'.repeat(1000)}1]`, { values: 20, depth: 10 }).values).toBe(21);
  });
});
