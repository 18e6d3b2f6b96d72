import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { allowExcess } from '../../src/db/archive/limits.ts';
import { archiveLines } from '../../src/db/archive/lines.ts';
import { linear } from '../setup/growth.ts';
import { inPieces, noise, read } from './packed-lines.ts';

describe('the lines of an archive', () => {
  it('may be longer than 16 MiB, because earlier releases wrote such lines', async () => {
    const line = randomBytes(15_000_000).toString('base64');
    const { lines, fault } = await read(`${line}\n`);
    expect([lines[0]?.length, fault]).toEqual([20_000_000, undefined]);
  });

  it('have no limits when every excess is allowed', async () => {
    const text = `${'x'.repeat(20_000_000)}\n${'{}\n'.repeat(1_000_000)}`;
    let length = 0;
    for await (const lines of archiveLines(inPieces(gzipSync(text), 64 * 1024), allowExcess))
      for (const line of lines) length += line.length;
    expect(length).toBe(text.length);
  });

  it('are split in time linear in their length, however many chunks one has', async () => {
    const timeOf = async (length: number) => {
      const text = `${noise(length)}\n`;
      const times: number[] = [];
      for (let run = 0; run < 3; run++) {
        const begin = performance.now();
        await read(text);
        times.push(performance.now() - begin);
      }
      return Math.min(...times);
    };
    const small = await timeOf(300_000);
    expect((await timeOf(9_000_000)) / small).toBeLessThan(linear);
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

  it('have the same limits however the archive is chunked', async () => {
    const text = `${noise(250)}${'x'.repeat(1_900_000)}\n${randomBytes(1_000_000).toString('base64')}\n`;
    for (const size of [1024, 64 * 1024, 256 * 1024, 10_000_000])
      expect((await read(text, size)).fault).toBeUndefined();
    const longer = `${'x'.repeat(5_500_000)}\n${randomBytes(1_000_000).toString('base64')}\n`;
    for (const size of [1024, 64 * 1024, 10_000_000])
      expect((await read(longer, size)).fault).toMatch(/one of its lines is too long/);
  });
});
