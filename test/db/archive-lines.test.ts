import { describe, expect, it } from 'vitest';
import { noise, read } from './packed-lines.ts';

describe('the lines of an archive', () => {
  it('equal what was written, however the bytes are chunked, in any language', async () => {
    // One line takes many pieces of the archive, and the other one takes many chunks of the unpacked text.
    const long = [noise(20_000), noise(1000).repeat(100)];
    const lines = ['a', '', 'übergroß 長い', ...long, '"\\n"', 'z'];
    for (const size of [1, 7, 4096]) expect(await read(`${lines.join('\n')}\n`, size)).toEqual({ lines });
  });

  it('may be 5,000,000 characters long, as for a large group', async () => {
    const line = noise(5_000_000);
    expect((await read(`${line}\n`)).lines[0]?.length).toBe(line.length);
  });

  it('fail when one is far longer than expected for the archive size', async () => {
    expect((await read('x'.repeat(10_000_000))).fault).toMatch(/one of its lines is too long/);
  });
});
