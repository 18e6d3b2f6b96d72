import { randomBytes } from 'node:crypto';
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

  it('fail when they unpack to far more bytes than expected for the archive size', async () => {
    const { lines, fault } = await read(`${'x'.repeat(999)}\n`.repeat(60_000));
    expect(fault).toMatch(/it unpacks to far more data than is accepted for an archive of its size/);
    expect(lines.length * 1000).toBeLessThan(40 * 1024 * 1024);
  });

  it('fail when there are far more of them than expected for the archive size', async () => {
    const { lines, fault } = await read('{}\n'.repeat(1_000_000));
    expect(fault).toMatch(/it has far more rows than are accepted for an archive of its size/);
    expect(lines.length).toBeLessThan(200_000);
  });

  it('fail when one is far longer than expected for the archive size', async () => {
    expect((await read('x'.repeat(10_000_000))).fault).toMatch(/one of its lines is too long/);
  });

  it('have the same limits however the archive is chunked', async () => {
    const text = `${noise(250)}${'x'.repeat(1_900_000)}\n${randomBytes(1_000_000).toString('base64')}\n`;
    for (const size of [1024, 64 * 1024, 256 * 1024, 10_000_000])
      expect((await read(text, size)).fault).toBeUndefined();
    const longer = `${'x'.repeat(5_500_000)}\n${randomBytes(1_000_000).toString('base64')}\n`;
    for (const size of [1024, 64 * 1024, 10_000_000])
      expect((await read(longer, size)).fault).toMatch(/one of its lines is too long/);
  });
});
