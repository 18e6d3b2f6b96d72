import { describe, expect, it } from 'vitest';
import { archiveOfBytes, packedChunkBytes, refuseChanges } from '../../src/db/archive/packed.ts';

describe('an archive that may be changed between two reads', () => {
  const bytes = () => Buffer.alloc(2 * packedChunkBytes + 1, 'a');

  /** Returns the number of bytes that the read yields, and the message of its error. */
  async function readingOf(chunks: AsyncIterable<Uint8Array>) {
    let length = 0;
    try {
      for await (const chunk of chunks) length += chunk.length;
    } catch (error) {
      return [length, (error as Error).message];
    }
    return [length];
  }

  it('is read again while it is the same', async () => {
    const archive = refuseChanges(archiveOfBytes(bytes()));
    for (const _ of [1, 2, 3]) expect(await readingOf(archive.read())).toEqual([bytes().length]);
  });

  it('is refused at the first changed chunk', async () => {
    const changing = bytes();
    const archive = refuseChanges(archiveOfBytes(changing));
    await readingOf(archive.read());
    changing[packedChunkBytes + 5] = 0;
    expect(await readingOf(archive.read())).toEqual([packedChunkBytes, expect.stringContaining('was changed while')]);
  });

  it('yields no bytes that the first read did not yield', async () => {
    const archive = refuseChanges(archiveOfBytes(bytes()));
    for await (const chunk of archive.read()) if (chunk.length > 0) break;
    expect(await readingOf(archive.read())).toEqual([packedChunkBytes]);
  });
});
