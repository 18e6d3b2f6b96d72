import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { pages, root } from './pages.ts';

/** Lines of the source code, in which `…` replaces the expressions that messages insert. */
const lines = globSync('src/**/*.ts', { cwd: root }).flatMap((path) =>
  readFileSync(join(root, path), 'utf8')
    .replaceAll(/\$\{[^{}]*\}/g, '…')
    .replaceAll('\\`', '`')
    .split('\n'),
);

/** Returns the messages that the tables of a page quote. */
function messagesOf(page: string): readonly string[] {
  const tables = page.matchAll(/^\| message.*\|\n\|.*\n((?:\|.*\n?)*)/gm);
  return [...tables].flatMap(([, rows = '']) =>
    [...rows.matchAll(/^\| (`+) ?(.+?) ?\1 \|/gm)].map(([, , message = '']) => message),
  );
}

/** Returns the fixed parts of a message, without the values that are inserted. */
function wordsOf(message: string): readonly string[] {
  return message
    .split(/…|\b\d+\b/)
    .map((words) => words.trim())
    .filter((words) => words !== '');
}

/** Returns whether a line contains the fixed parts of a message, in order. */
function says(line: string, message: string): boolean {
  let from = 0;
  return wordsOf(message).every((words) => {
    const at = line.indexOf(words, from);
    from = at + words.length;
    return at >= 0;
  });
}

/** Pages whose messages are each written on one line of the source code. */
const held = ['docs/integrations/ingress.md', 'docs/integrations/scim.md'];

test.each(held)('%s quotes messages exactly as they appear in the source code', (path) => {
  const messages = messagesOf(pages.find((page) => page.path === path)?.text ?? '');
  expect(messages.length).toBeGreaterThan(3);
  expect(messages.filter((message) => !lines.some((line) => says(line, message)))).toEqual([]);
});

/** The source code, in which `…` replaces the expressions that messages insert, also expressions with braces. */
const source = globSync('src/**/*.ts', { cwd: root })
  .map((path) => readFileSync(join(root, path), 'utf8'))
  .map((text) => [1, 2, 3].reduce((left) => left.replaceAll(/\$\{[^{}]*\}/g, '…'), text).replaceAll('\\`', '`'))
  .join('\n');

/** Pages whose messages the program assembles from several parts. */
const assembled = ['custom-domains', 'directory', 'endpoint-security', 'notifications', 'streaming'];

test.each(assembled)('docs/integrations/%s.md quotes only words of messages in the source code', (name) => {
  const messages = messagesOf(pages.find(({ path }) => path === `docs/integrations/${name}.md`)?.text ?? '');
  expect(messages.length).toBeGreaterThan(3);
  const parts = messages.flatMap((message) => message.split(/…|`|\b\d+\b|\([^)]*\)|https?:\/\//));
  const words = parts.map((part) => part.replaceAll(/^[\s;:,.]+|[\s;:,.]+$/g, '')).filter((part) => part.includes(' '));
  expect(words.filter((part) => !source.includes(part))).toEqual([]);
});
