import { gzipSync } from 'node:zlib';
import { archiveLines } from '../../src/db/archive/lines.ts';
import type { PackedArchive } from '../../src/db/archive/packed.ts';

/** Returns an archive that is read in pieces of this size. */
export function inPieces(bytes: Uint8Array, piece: number): PackedArchive {
  return {
    size: bytes.length,
    async *read() {
      for (let at = 0; at < bytes.length; at += piece) yield bytes.subarray(at, at + piece);
    },
  };
}

/** Returns the lines that are read from a packed text, and the message of the error when the reader fails. */
export async function read(
  text: string,
  size = 64 * 1024,
): Promise<{ readonly lines: string[]; readonly fault?: string }> {
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
export function noise(length: number): string {
  let state = 1;
  let text = '';
  while (text.length < length) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    text += state.toString(36);
  }
  return text.slice(0, length);
}
