import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));

/** A page for people: its path from the root of the repository, and its text. */
export interface Page {
  readonly path: string;
  readonly text: string;
}

const paths = ['README.md', 'CHANGELOG.md', ...globSync('docs/**/*.md', { cwd: root }).sort()];
/** README.md, CHANGELOG.md and every page of `docs/`. */
export const pages: readonly Page[] = paths.map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));

/** What people wrote; the rest is generated from what the tests would compare it with. */
export const writtenPages = pages.filter((page) => !page.path.startsWith('docs/reference/'));

/** A page without its blocks of code, which hold no links and no headings. */
const prose = (page: Page) => page.text.replaceAll(/```.*?```/gs, '');

/** The targets of the links of a page, as they are written. */
export function links(page: Page): readonly string[] {
  return [...prose(page).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target]) => target ?? []);
}

/** The anchors of the headings of a page, as forges make them. */
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

/** The texts in a page that match the first group of a pattern, each once. */
export function mentions(page: Page, pattern: RegExp): readonly string[] {
  return [...new Set([...page.text.matchAll(pattern)].flatMap(([, text]) => text ?? []))];
}
