import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { pages, root } from './pages.ts';

/** The lines of the program, without the names of the values that its messages have filled in. */
const lines = globSync('src/**/*.ts', { cwd: root }).flatMap((path) =>
  readFileSync(join(root, path), 'utf8')
    .replaceAll(/\$\{[^{}]*\}/g, '…')
    .replaceAll('\\`', '`')
    .split('\n'),
);

/** The messages that the tables of a page quote. */
function messagesOf(page: string): readonly string[] {
  const tables = page.matchAll(/^\| message.*\|\n\|.*\n((?:\|.*\n?)*)/gm);
  return [...tables].flatMap(([, rows = '']) =>
    [...rows.matchAll(/^\| (`+) ?(.+?) ?\1 \|/gm)].map(([, , message = '']) => message),
  );
}

/** What a message says whatever it is about. */
function wordsOf(message: string): readonly string[] {
  return message
    .split(/…|\b\d+\b/)
    .map((words) => words.trim())
    .filter((words) => words !== '');
}

/** Whether a line has the words of a message, in their order. */
function says(line: string, message: string): boolean {
  let from = 0;
  return wordsOf(message).every((words) => {
    const at = line.indexOf(words, from);
    from = at + words.length;
    return at >= 0;
  });
}

/** The pages whose messages the program writes in one piece. */
const held = ['docs/integrations/ingress.md', 'docs/integrations/scim.md'];

test.each(held)('%s quotes messages exactly as they appear in the source code', (path) => {
  const messages = messagesOf(pages.find((page) => page.path === path)?.text ?? '');
  expect(messages.length).toBeGreaterThan(3);
  expect(messages.filter((message) => !lines.some((line) => says(line, message)))).toEqual([]);
});

/** The source code, with values that messages have filled in replaced, also where they are expressions with braces. */
const source = globSync('src/**/*.ts', { cwd: root })
  .map((path) => readFileSync(join(root, path), 'utf8'))
  .map((text) => [1, 2, 3].reduce((left) => left.replaceAll(/\$\{[^{}]*\}/g, '…'), text).replaceAll('\\`', '`'))
  .join('\n');

/** The pages whose messages the program puts together from several parts. */
const assembled = ['custom-domains', 'directory', 'endpoint-security', 'notifications', 'streaming'];

test.each(assembled)('docs/integrations/%s.md quotes only words of messages in the source code', (name) => {
  const messages = messagesOf(pages.find(({ path }) => path === `docs/integrations/${name}.md`)?.text ?? '');
  expect(messages.length).toBeGreaterThan(3);
  const parts = messages.flatMap((message) => message.split(/…|`|\b\d+\b|\([^)]*\)|https?:\/\//));
  const words = parts.map((part) => part.replaceAll(/^[\s;:,.]+|[\s;:,.]+$/g, '')).filter((part) => part.includes(' '));
  expect(words.filter((part) => !source.includes(part))).toEqual([]);
});
