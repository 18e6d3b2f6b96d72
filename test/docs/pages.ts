import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));

/** A Markdown page: its path from the root of the repository, and its text. */
export interface Page {
  readonly path: string;
  readonly text: string;
}

const paths = ['README.md', 'CHANGELOG.md', ...globSync('docs/**/*.md', { cwd: root }).sort()];
/** README.md, CHANGELOG.md and every page of `docs/`. */
export const pages: readonly Page[] = paths.map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));

/** Pages that people wrote. The others are generated from the code that the tests would compare them with. */
export const writtenPages = pages.filter((page) => !page.path.startsWith('docs/reference/'));

/** Returns the text of a page without its blocks of code, which contain no links and no headings. */
const prose = (page: Page) => page.text.replaceAll(/```.*?```/gs, '');

/** Returns the targets of the links of a page, as they are written. */
export function links(page: Page): readonly string[] {
  return [...prose(page).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target]) => target ?? []);
}

/** Returns the anchors of the headings of a page, as Git hosting services make them. */
export function anchors(page: Page): ReadonlySet<string> {
  const headings = [...prose(page).matchAll(/^#+ (.*)$/gm)].flatMap(([, heading]) => heading ?? []);
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

/** Returns the texts of a page that the first group of a pattern matches, each once. */
export function mentions(page: Page, pattern: RegExp): readonly string[] {
  return [...new Set([...page.text.matchAll(pattern)].flatMap(([, text]) => text ?? []))];
}
