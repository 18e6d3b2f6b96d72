import { open } from 'node:fs/promises';
import { describeBytes, limits } from '../../../documents/limits.ts';
import { Unreadable } from './snapshot.ts';

/** The text of a file, which must be UTF-8 and within the size a file may have; `shown` is how messages call it. */
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

/** Not `readFile`: a file may grow between the look at its size and the reading. */
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
