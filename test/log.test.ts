import { describe, expect, test } from 'vitest';
import { createBufferedWriter, createLog, type LogLine, logLevels } from '../src/log.ts';
import { growthOf, linear } from './setup/growth.ts';

const time = new Date(2026, 0, 2, 10, 32, 1);
const token = `nbp_${'a'.repeat(36)}`;

function written(format: 'text' | 'json', line: LogLine): string {
  let text = '';
  const write = (part: string) => {
    text += part;
  };
  createLog({ format, write, now: () => time })(line);
  return text;
}

describe('the log', () => {
  test.each<[string, LogLine, string]>([
    ['a message', { level: 'info', message: 'ready' }, '10:32:01  ready\n'],
    [
      'fields',
      { level: 'info', message: 'm', file: 'a.yaml', changes: 3, of: undefined },
      '10:32:01  m  file=a.yaml  changes=3\n',
    ],
    ['a field with spaces', { level: 'info', message: 'm', what: 'a b' }, '10:32:01  m  what="a b"\n'],
    ['a warning', { level: 'warn', message: 'careful' }, '10:32:01  warning: careful\n'],
    ['an error', { level: 'error', message: 'a\n  b' }, '10:32:01  error: a b\n'],
  ])('writes %s as text', (_, line, expected) => {
    expect(written('text', line)).toBe(expected);
  });

  test.each(['\u001b[2J\u001b]0;x\u0007', '\u2028', '\u2029', '\u0085', '\u009b31m', '\u007f', '\u202e', '\v', '\0'])(
    'escapes %j in messages and fields of the text',
    (character) => {
      const name = `a${character}b`;
      const line = {
        level: 'info',
        message: `created Group ${name}`,
        name,
        cause: new Error(name),
        list: [name],
      } as const;
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
      expect(written('text', line).trimEnd()).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202e]/);
      expect(JSON.parse(written('json', line))).toMatchObject({ message: line.message, name });
    },
  );

  test('shows an escaped character by its code', () => {
    const line = written('text', { level: 'info', message: 'a\u001b[1mb\u2028c', name: 'a\u2028b' });
    expect(line).toBe('10:32:01  a\\u001b[1mb\\u2028c  name="a\\u2028b"\n');
  });

  test('writes one JSON object per line', () => {
    const text = written('json', { level: 'warn', message: 'a\nb', revision: 3, cause: new Error('broken') });
    expect(text.endsWith('\n') && text.trimEnd().includes('\n')).toBe(false);
    expect(JSON.parse(text)).toEqual({
      time: time.toISOString(),
      level: 'warn',
      message: 'a\nb',
      revision: 3,
      cause: 'broken',
    });
  });

  test.each(['text', 'json'] as const)('writes no secret in the format %s', (format) => {
    const text = written(format, {
      ...{ level: 'error', message: `refused ${token} at postgres://u:hunter2@db/x` },
      ...{ token, password: 'hunter2', nested: { client_secret: 'hunter2', url: 'https://u:hunter2@h/' } },
    });
    expect(text).not.toMatch(/nbp_|hunter2/);
    expect(text).toContain('postgres://u:(secret)@db/x');
  });

  test.each([
    ['a signed token', 'refused eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.hunter2hunter2'],
    ['a header', 'sent Authorization: Bearer hunter2hunter2hunter2'],
    ['a query', 'GET /oidc/cb?state=hunter2&x=1&code=hunter2 failed'],
  ])('hides the secret in %s', (_, message) => {
    const text = written('text', { level: 'warn', message, cause: new Error(message) });
    expect(text).not.toMatch(/hunter2|eyJ/);
    expect(text).toContain('(secret)');
  });

  test('leaves words unchanged that only resemble the beginning of a secret', () => {
    const message = 'the token is gone; basic authentication is off, see ?page=2';
    expect(written('text', { level: 'info', message })).toBe(`10:32:01  ${message}\n`);
  });

  test.each([
    ['debug', ['debug', 'info', 'warn', 'error']],
    [undefined, ['info', 'warn', 'error']],
    ['warn', ['warn', 'error']],
  ] as const)('at the level %s writes only lines of that level and above', (level, expected) => {
    const texts: string[] = [];
    const log = createLog({ format: 'json', write: (text) => texts.push(text), ...(level && { level }) });
    for (const one of logLevels) log({ level: one, message: 'm' });
    expect(texts.map((text) => JSON.parse(text).level)).toEqual(expected);
  });

  test('adds the context fields to a line, unless the line has them itself', () => {
    const texts: string[] = [];
    const fields = () => ({ request_id: 'r1' });
    const log = createLog({ format: 'text', write: (text) => texts.push(text), now: () => time, fields });
    log({ level: 'info', message: 'm' });
    log({ level: 'info', message: 'm', request_id: 'r2' });
    expect(texts).toEqual(['10:32:01  m  request_id=r1\n', '10:32:01  m  request_id=r2\n']);
  });

  test('shows the path of a token file, which is no secret', () => {
    expect(written('text', { level: 'info', message: 'm', tokenFile: '.heddle/token' })).toContain(
      'tokenFile=.heddle/token',
    );
  });
});

describe('a log line of any length', () => {
  const length = 20_000;
  test.each([
    ['names with dots', 'a.'],
    ['names with dots, and an address', 'a.://'],
    ['addresses without an end', 'a://b'],
    ['passwords without an end', 'a://b:'],
    ['spaces', ' '],
    ['spaces and line ends', '   \n'],
    ['beginnings of tokens', 'nbp_'],
    ['beginnings of signed tokens', 'eyJ-'],
    ['schemes of authorization', 'bearer '],
    ['secrets of queries', '?code='],
  ])('is written in time linear to its length: %s', (_, piece) => {
    const lineOf = (count: number) => ({ level: 'info', message: `${piece.repeat(count)}!` }) as const;
    const growth = growthOf((size) => written('text', lineOf(size / piece.length)), length);
    expect(growth).toBeLessThan(linear);
  });

  test('hides the passwords of every address in it', () => {
    const message = 'ssh://a:one@h/x https://b:t@wo@h, http://c:three@h http://d@h http://h:80/e@f ://:four@h';
    expect(written('text', { level: 'info', message })).toBe(
      '10:32:01  ssh://a:(secret)@h/x https://b:(secret)@h, http://c:(secret)@h http://d@h http://h:80/e@f ://:(secret)@h\n',
    );
  });
});

describe('buffered log output', () => {
  test('is written soon, in a single write and in order', async () => {
    const seen: string[] = [];
    const { write } = createBufferedWriter((text) => seen.push(text));
    for (const text of ['a', 'b', 'c']) write(text);
    expect(seen).toEqual([]);
    await expect.poll(() => seen.length).toBeGreaterThan(0);
    write('d');
    await expect.poll(() => seen.length).toBeGreaterThan(1);
    expect(seen).toEqual(['abc', 'd']);
  });

  test('is written at once when flushed, and not again', async () => {
    const seen: string[] = [];
    const { write, flush } = createBufferedWriter((text) => seen.push(text));
    write('a');
    flush();
    flush();
    write('b');
    await expect.poll(() => seen.length).toBeGreaterThan(1);
    expect(seen).toEqual(['a', 'b']);
  });
});
