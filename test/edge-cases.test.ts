import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const path = join(import.meta.dirname, 'edge-cases.md');
const table = readFileSync(path, 'utf8');
const titles = titlesOf(
  globSync('**/*.ts', { cwd: import.meta.dirname, exclude: ['**/node_modules/**', 'edge-cases.test.ts'] }).map(
    (file) => [file.replaceAll('\\', '/'), readFileSync(join(import.meta.dirname, file), 'utf8')] as const,
  ),
);

describe('the table of edge cases', () => {
  it('lists each number that a title names, in order, and describes it in one sentence', () => {
    const cases = rowsOf(table);
    expect(cases.map(({ number }) => number)).toEqual(cases.map((_, index) => `E${index + 1}`));
    expect(unlisted(table, titles)).toEqual([]);
    expect(cases.filter(({ sentence }) => !/^[A-Z`].*\.$/.test(sentence))).toEqual([]);
  });

  it('lists the files whose titles name a number, at least one for each; `-u` updates them', async () => {
    expect(rowsOf(table).filter(({ number }) => !titles.has(number))).toEqual([]);
    await expect(withFiles(table, titles)).toMatchFileSnapshot(path);
  });

  it('is compared with titles of any spelling, but not with comments', () => {
    const page = '| E1 | One. | `b.ts` |\n| E2 | Two. | `gone.ts` |\n';
    const found = titlesOf([
      ['b.ts', "it('E1, E3: one', f);\n// E4: none\n  ['E2: two', x],\n"],
      ['a.ts', 'describe(`one (E1)`, f);'],
    ]);
    expect(unlisted(page, found)).toEqual(['E3']);
    expect(withFiles(page, found)).toBe('| E1 | One. | `a.ts`, `b.ts` |\n| E2 | Two. | `b.ts` |\n');
  });
});

type Titles = ReadonlyMap<string, readonly string[]>;

/** Finds the numbers that the files name outside of comments, each with its files. */
function titlesOf(files: readonly (readonly [string, string])[]): Titles {
  const found = new Map<string, string[]>();
  for (const [file, text] of files.toSorted(([a], [b]) => (a < b ? -1 : 1)))
    for (const number of new Set(text.replaceAll(/^\s*(?:\/\/|\/?\*).*$/gm, '').match(/\bE[1-9]\d*\b/g)))
      found.set(number, [...(found.get(number) ?? []), file]);
  return found;
}

function rowsOf(page: string) {
  return [...page.matchAll(/^\| (E\d+) \| (.*) \| (.*) \|$/gm)].map(([, number = '', sentence = '']) => ({
    number,
    sentence,
  }));
}

/** Returns the numbers that titles name and the table does not list. */
function unlisted(page: string, named: Titles): readonly string[] {
  const listed = new Set(rowsOf(page).map(({ number }) => number));
  return [...named.keys()].filter((number) => !listed.has(number));
}

/** Returns the page with the files that name each number. */
function withFiles(page: string, named: Titles): string {
  return page.replaceAll(/^\| (E\d+) \| (.*) \| .* \|$/gm, (_, number: string, sentence: string) => {
    const files = (named.get(number) ?? []).map((file) => `\`${file}\``);
    return `| ${number} | ${sentence} | ${files.join(', ')} |`;
  });
}
