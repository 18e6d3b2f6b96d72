import { describe, expect, test } from 'vitest';
import { readers } from './read-files.ts';

describe.each(readers)('the files of a %s', (_, read) => {
  test('cannot be read when the patterns need too many comparisons, which are counted, not timed', async () => {
    const name = 'a'.repeat(200);
    const many = Object.fromEntries(Array.from({ length: 400 }, (_each, at) => [`${at}/${name}.yaml`, 'x']));
    const hostile = Array.from({ length: 1000 }, (_each, at) => `${'*a'.repeat(80)}*${at}b*`).join('\n');
    const found = await read({ ...many, '.heddleignore': hostile }, {});
    expect(found).toMatchObject({ ok: false, reason: expect.stringContaining('too many or too complex') });
  });
});
