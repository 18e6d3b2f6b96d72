import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { allowExcess } from '../../src/db/archive/limits.ts';
import { archiveLines } from '../../src/db/archive/lines.ts';
import type { PackedArchive } from '../../src/db/archive/packed.ts';
import { linear } from '../setup/growth.ts';

/** Returns an archive that is read in pieces of this size. */
function inPieces(bytes: Uint8Array, piece: number): PackedArchive {
  return {
    size: bytes.length,
    async *read() {
      for (let at = 0; at < bytes.length; at += piece) yield bytes.subarray(at, at + piece);
    },
  };
}

/** Returns the lines that are read from a packed text, and the message of the error when the reader fails. */
async function read(text: string, size = 64 * 1024): Promise<{ readonly lines: string[]; readonly fault?: string }> {
  const lines: string[] = [];
  try {
    for await (const ended of archiveLines(inPieces(gzipSync(text), size)))
      lines.push(...ended.map((line) => Buffer.from(line).toString().replace(/\n$/, '')));
    return { lines };
  } catch (error) {
    return { lines, fault: (error as Error).message };
  }
}

/** Returns text that hardly gets shorter when it is compressed. */
function noise(length: number): string {
  let state = 1;
  let text = '';
  while (text.length < length) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    text += state.toString(36);
  }
  return text.slice(0, length);
}

describe('the lines of an archive', () => {
  it('equal what was written, however the bytes are chunked, in any language', async () => {
    const lines = ['a', '', 'übergroß 長い', noise(100_000), '"\\n"', 'z'];
    for (const size of [1, 7, 4096]) expect(await read(`${lines.join('\n')}\n`, size)).toEqual({ lines });
  });

  it('may be 5,000,000 characters long, as for a large group', async () => {
    const line = noise(5_000_000);
    expect((await read(`${line}\n`)).lines[0]?.length).toBe(line.length);
  });

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
});
