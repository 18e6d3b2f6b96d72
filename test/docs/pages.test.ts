import { existsSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, test } from 'vitest';
import { anchors, links, mentions, type Page, pages, root, writtenPages } from './pages.ts';

const named = (page: Page) => [page.path, page] as const;
const exists = (path: string) => existsSync(join(root, path));

/** Returns why a link of a page is broken. Returns `undefined` when it is not. */
function brokenLink(page: Page, link: string): string | undefined {
  const [file, anchor] = link.split('#');
  const path = file ? posix.join(posix.dirname(page.path), file) : page.path;
  if (!exists(path)) return `${link}: no file ${path}`;
  const target = pages.find((one) => one.path === path);
  if (anchor && !(target && anchors(target).has(anchor))) return `${link}: ${path} has no heading ${anchor}`;
  return undefined;
}

test('README.md has at most 250 lines', () => {
  expect(readFileSync(join(root, 'README.md'), 'utf8').split('\n').length).toBeLessThanOrEqual(250);
});

test('CHANGELOG.md lists its releases newest first, each with a date and a link', () => {
  const text = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
  const headings = [...text.matchAll(/^## (.*)$/gm)].map(([, heading = '']) => heading);
  const releases = headings.filter((heading) => heading !== '[Unreleased]');
  expect(releases.filter((heading) => !/^\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d$/.test(heading))).toEqual([]);
  const dates = releases.map((heading) => heading.slice(-10));
  expect(dates).toEqual(dates.toSorted().reverse());
  const links = [...text.matchAll(/^\[(.*)\]: https:/gm)].map(([, name]) => `[${name}]`);
  expect(links.filter((link) => link !== '[Unreleased]')).toEqual(releases.map((heading) => heading.split(' ')[0]));
});

test('every page is linked from README.md, directly or through other pages', () => {
  const reached = new Set(['README.md']);
  for (const path of reached) {
    const page = pages.find((one) => one.path === path);
    for (const link of page ? links(page) : []) reached.add(posix.join(posix.dirname(path), link.replace(/#.*/, '')));
  }
  expect(pages.map((page) => page.path).filter((path) => !reached.has(path))).toEqual([]);
});

describe.each(pages.map(named))('%s', (_path, page) => {
  test('has no broken links to pages or headings', () => {
    const within = links(page).filter((link) => !/^https?:/.test(link));
    expect(within.flatMap((link) => brokenLink(page, link) ?? [])).toEqual([]);
  });
});

describe.each(writtenPages.map(named))('%s', (_path, page) => {
  test('names only existing files', () => {
    const paths = mentions(page, /`((?:src|test|examples|charts|crds|docs)\/[^`\s<>*]*)`/g);
    const runBy = mentions(page, /<!-- run by (.*?) -->/g).flatMap((list) => list.split(', '));
    expect([...paths, ...runBy].filter((path) => !exists(path))).toEqual([]);
  });

  test('names functions and classes with the file that contains them', () => {
    const pairs = [...page.text.matchAll(/`(src\/[^`\s]+\.ts)`\s+`(\w+)(?:\(\))?`/g)];
    const missing = pairs.filter(([, path = '', name]) => {
      return !new RegExp(`\\b${name}\\b`).test(readFileSync(join(root, path), 'utf8'));
    });
    expect(missing.map(([text]) => text)).toEqual([]);
  });

  test('names only existing commands and flags', () => {
    const reference = readFileSync(join(root, 'docs/reference/commands.md'), 'utf8');
    const known = `${reference}${readFileSync(join(root, 'docs/reference/settings.md'), 'utf8')}`;
    const commands = mentions(page, /(?:`|npx )heddle ([a-z][a-z-]+)/g);
    const flags = [...page.text.matchAll(/(?:`|npx )heddle ([^`\n]*)/g)].flatMap(
      ([, line = '']) => line.match(/--[a-z][a-z-]+/g) ?? [],
    );
    expect([
      ...commands.filter((command) => !known.includes(`heddle ${command}`)),
      ...flags.filter((flag) => !known.includes(flag)),
    ]).toEqual([]);
  });
});
