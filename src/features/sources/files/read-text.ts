import { open } from 'node:fs/promises';
import { describeBytes, limits } from '../../../documents/limits.ts';
import { Unreadable } from './snapshot.ts';

/**
 * Returns the text of a file. Throws `Unreadable` when the file is not UTF-8, or larger than a file may be. `shown` is
 * its name in messages.
 */
export async function readText(path: string, shown: string): Promise<string> {
  const bytes = await readAtMost(path, limits.fileBytes + 1);
  if (bytes.length > limits.fileBytes) {
    throw new Unreadable(`"${shown}" has more than ${describeBytes(limits.fileBytes)}; split it.`);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new Unreadable(`"${shown}" is not UTF-8 text; save it as UTF-8.`, { cause });
  }
}

/** Reads at most `most` bytes. `readFile` is not suitable, because a file may grow after its size was checked. */
async function readAtMost(path: string, most: number): Promise<Uint8Array> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const buffer = Buffer.alloc(Math.min(most, size + 1));
    let length = 0;
    for (;;) {
      const { bytesRead } = await file.read(buffer, length, buffer.length - length);
      length += bytesRead;
      if (bytesRead === 0 || length === buffer.length) break;
    }
    return buffer.subarray(0, length);
  } finally {
    await file.close();
  }
}
