import { expect, it } from 'vitest';
import { writtenPages } from './pages.ts';

const path = 'docs/glossary.md';
const glossary = writtenPages.find((page) => page.path === path)?.text ?? '';
const words = [...glossary.matchAll(/^\| \*\*([^*]+)\*\* \| (.+) \|$/gm)].map(([, word = '', meaning = '']) => ({
  word,
  meaning,
}));

it('the glossary is sorted and defines each word in one sentence', () => {
  const names = words.map(({ word }) => word);
  expect(names).toContain('operator');
  expect(names).toEqual([...new Set(names)].sort());
  expect(words.filter(({ meaning }) => !/^[A-Z][^.]*\.$/.test(meaning))).toEqual([]);
});

it('the glossary contains only words that other pages use', () => {
  const texts = writtenPages.filter((page) => page.path !== path).map(({ text }) => text.toLowerCase());
  expect(words.filter(({ word }) => !texts.some((text) => text.includes(word)))).toEqual([]);
});
