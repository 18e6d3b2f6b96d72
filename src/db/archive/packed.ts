import { createHash } from 'node:crypto';
import { InvalidInput } from '../../model/errors.ts';

/**
 * A compressed archive that can be read several times. Every read must yield the same bytes, because rows are read
 * without computing the checksums again.
 */
export interface PackedArchive {
  /** Number of bytes. The limits of the content depend on it. */
  readonly size: number;
  read(): AsyncIterable<Uint8Array>;
}

/**
 * Size of the pieces in which an archive is read, in bytes: other work on the event loop gets its turn between two
 * pieces.
 */
export const packedChunkBytes = 256 * 1024;

/** Returns the archive with these bytes. */
export function archiveOfBytes(bytes: Uint8Array): PackedArchive {
  return {
    size: bytes.length,
    async *read() {
      for (let at = 0; at < bytes.length; at += packedChunkBytes) yield bytes.subarray(at, at + packedChunkBytes);
    },
  };
}

/**
 * Returns an archive whose bytes may be changed by other programs between two reads. The first read records checksums of
 * the chunks. Later reads yield only bytes that the first one yielded, and throw `InvalidInput` at a changed chunk. The
 * reads of `archive` must yield the same chunks as long as the bytes are the same.
 */
export function refuseChanges(archive: PackedArchive): PackedArchive {
  let sums: string[] | undefined;
  return {
    size: archive.size,
    read() {
      if (sums !== undefined) return unchanged(archive.read(), sums);
      sums = [];
      return recorded(archive.read(), sums);
    },
  };
}

async function* recorded(chunks: AsyncIterable<Uint8Array>, sums: string[]): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    sums.push(checksum(chunk));
    yield chunk;
  }
}

async function* unchanged(chunks: AsyncIterable<Uint8Array>, sums: readonly string[]): AsyncGenerator<Uint8Array> {
  const expected = sums.values();
  for await (const chunk of chunks) {
    const { value: sum, done } = expected.next();
    if (done === true) return;
    if (checksum(chunk) !== sum)
      throw new InvalidInput('the archive was changed while it was read; nothing was written, try again');
    yield chunk;
  }
}

function checksum(chunk: Uint8Array): string {
  return createHash('sha256').update(chunk).digest('base64');
}
