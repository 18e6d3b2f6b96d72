import fc from 'fast-check';
import { expect } from 'vitest';
import { commentsOf } from '../../../src/documents/format/comments.ts';
import { readFile } from '../../../src/documents/read.ts';
import { choices, documentOf, writeAtWill } from './generated.ts';
import { formatted } from './sample.ts';

const texts = choices.map((choice) => {
  const documents = Array.from({ length: 1 + choice.pick(3) }, (_, at) => documentOf(choice, at));
  const joined = documents.map((document) => writeAtWill(choice, document)).join('---\n');
  const marked = choice.pick(4) === 0 ? `---\n${joined}` : joined;
  return choice.pick(4) === 0 ? `\ufeff${marked.replaceAll('\n', '\r\n')}` : marked;
});

/** Reads a text without problems and returns its documents without their positions. */
function meaning(text: string) {
  const { documents, problems, foreign } = readFile({ path: 'a.yaml', text });
  expect([problems, foreign]).toEqual([[], undefined]);
  return documents.map(({ kind, metadata, spec }) => ({ kind, metadata, spec }));
}

const comments = (text: string) =>
  commentsOf(text.replace('\ufeff', '').replaceAll('\r\n', '\n'))
    .map((comment) => comment.text)
    .sort();

/** Formats this many random texts. */
export function formatTexts(runs: number): void {
  fc.assert(
    fc.property(texts, (text) => {
      const after = formatted(text);
      expect(meaning(after)).toEqual(meaning(text));
      expect(comments(after)).toEqual(comments(text));
      expect(formatted(after)).toBe(after);
      expect(after).not.toMatch(/[ \t]+$|^\ufeff/);
    }),
    { numRuns: runs },
  );
}
