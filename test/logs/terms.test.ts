import { describe, expect, it } from 'vitest';
import {
  prefixTerm,
  prefixTerms,
  saltOf,
  termsOf,
  termsWith,
  wholeTerm,
} from '../../src/features/logs/search-terms.ts';

const salt = saltOf('account');
const texts = ['d1a2b3-C4D5', '/Orders/4711?q=é%F0', '2001:db8::1', 'Grüezi Ωmega', '😀 smile', 'aaa', 'xy'];

describe('the search terms of a text', () => {
  it.each(texts)('include all terms of every part of %s, in any case', (text) => {
    const terms = new Set(termsOf(salt, [text, 'another text']));
    for (let from = 0; from < text.length; from += 1)
      for (let to = from + 1; to <= text.length; to += 1) {
        const part = text.slice(from, to);
        for (const way of [part, part.toUpperCase(), part.toLowerCase()])
          expect(termsWith(salt, way).filter((term) => !terms.has(term))).toEqual([]);
      }
    expect(prefixTerms(salt, text)).toContain(prefixTerm(salt, text.slice(0, 2).toUpperCase()));
  });

  it('are none for parts of fewer than three characters, and at most 512 for a very long text', () => {
    expect([termsWith(salt, 'ab'), termsOf(salt, ['ab'])]).toEqual([[], []]);
    const endless = Array.from({ length: 4096 }, (_, at) => (at * 7919).toString(36)).join('');
    expect(termsOf(salt, [endless]).length).toBeLessThanOrEqual(512);
    expect(termsWith(salt, endless).length).toBeLessThanOrEqual(32);
  });

  it('differ between accounts, and are numbers that fit into the column', () => {
    const other = new Set(termsOf(saltOf('another'), texts));
    expect(termsOf(salt, texts).filter((term) => other.has(term)).length).toBeLessThan(3);
    const all = [...termsOf(salt, texts), ...prefixTerms(salt, 'ab'), wholeTerm(salt, 'host', 'a.example.com')];
    expect(all.filter((term) => !(Number.isInteger(term) && term >= 0 && term < 2 ** 31))).toEqual([]);
  });
});
