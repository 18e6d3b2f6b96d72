import { describe, expect, test } from 'vitest';
import { InvalidInput, NotFound } from '../../src/model/errors.ts';
import { limitProblems, type Problem } from '../../src/model/problem.ts';
import { shortenMessage } from '../../src/model/quote.ts';

const long = 'x'.repeat(100_000);

describe('an error message', () => {
  test('quotes at most 200 characters of each text', () => {
    const sentence = (text: string) => `\`${text}\` is not a domain name; write one such as \`example.com\``;
    expect(shortenMessage(sentence('a'.repeat(200)))).toBe(sentence('a'.repeat(200)));
    expect(shortenMessage(sentence(long))).toBe(sentence(`${'x'.repeat(200)}… (100000 characters)`));
  });

  test('is short even if a quoted text contains backticks', () => {
    const spaced = `${'y '.repeat(1500)}\``;
    for (const text of [
      `a\`${long}`,
      `${long}\`a`,
      '`'.repeat(4000),
      '`x'.repeat(4000),
      `${spaced} ${spaced} ${spaced}`,
    ])
      expect(shortenMessage(`\`${text}\` is wrong; write one such as x`).length).toBeLessThan(300);
    // The text between two quoted parts is kept.
    const sentence = (text: string) => `\`${text}\` is called \`${text}\` now; write that`;
    expect(shortenMessage(sentence('x'.repeat(255)))).toBe(sentence(`${'x'.repeat(200)}… (255 characters)`));
  });

  test('is limited in length even without quotes', () => {
    expect(shortenMessage(`there is no ${long}`).length).toBeLessThan(4100);
  });

  test('is short if the name of a missing object is long, with and without spaces', () => {
    for (const name of [long, 'x y '.repeat(1000)]) {
      const { message } = new NotFound(`group ${name} not found`);
      expect(message).toMatch(/^group [xy ]{200}… \(\d+ characters\) not found$/);
    }
    expect(new NotFound(`group ${'x'.repeat(200)} not found`).message).toBe(`group ${'x'.repeat(200)} not found`);
  });

  test('is short without quotes around a long word', () => {
    expect(shortenMessage(`the domain ${long} already exists`)).toBe(
      `the domain ${'x'.repeat(200)}… (100000 characters) already exists`,
    );
  });

  test('contains the whole path of a file', () => {
    const path = `/var/${'d'.repeat(120)}/${'e'.repeat(120)}`;
    for (const written of [path, `'${path}'`, `"${path}"`, `(${path})`, `("${path}")`]) {
      const message = `The data directory ${written} is in use.`;
      expect(shortenMessage(message)).toBe(message);
    }
  });

  test('is short if a word contains many slashes, unless it is an absolute path of at most 1,024 characters', () => {
    const sentence = (text: string) => `the domain ${text} already exists`;
    const names = (characters: number) => '/name'.repeat(characters / 5);
    expect(shortenMessage(sentence(names(1020)))).toBe(sentence(names(1020)));
    for (const text of [names(1025), `x${names(300)}`, 'x/'.repeat(1000)])
      expect(shortenMessage(sentence(text))).toBe(sentence(`${text.slice(0, 200)}… (${text.length} characters)`));
  });

  test('is short in an error and in each of its problems', () => {
    const problem: Problem = { code: 'field_unknown', message: `unknown field \`${long}\`` };
    const error = new InvalidInput(`cannot be read at \`${long}\``, { problems: [problem] });
    expect(error.message.length).toBeLessThan(300);
    expect(error.problems[0]?.message.length).toBeLessThan(300);
    expect(limitProblems([problem])[0]?.message.length).toBeLessThan(300);
  });

  test('stays the same when it is shortened again', () => {
    for (const text of [`the domain \`${long}\` exists`, `there is no ${'x '.repeat(9000)}`]) {
      const once = shortenMessage(text);
      expect(once).not.toBe(text);
      expect(shortenMessage(once)).toBe(once);
    }
    const subject = { path: '/member'.repeat(10_000), key: long, kind: long };
    const once = limitProblems([{ code: 'field_unknown', message: 'm', ...subject }]);
    expect(once[0]?.key).toBe(`${'x'.repeat(200)}… (100000 characters)`);
    expect(limitProblems(once)).toEqual(once);
  });

  test('comes with a short path of the problem', () => {
    const subject = { path: `/a/${long}/b`, key: long, kind: long };
    const { problems } = new InvalidInput('m', { problems: [{ code: 'field_unknown', message: 'm', ...subject }] });
    expect(problems[0]?.path).toBe(`/a/${'x'.repeat(200)}… (100000 characters)/b`);
    expect(JSON.stringify(problems).length).toBeLessThan(1000);
    const deep = { code: 'field_unknown', message: 'm', path: '/member'.repeat(10_000) } as const;
    expect(limitProblems([deep])[0]?.path?.length).toBeLessThan(1100);
  });
});
