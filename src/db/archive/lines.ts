import { Readable } from 'node:stream';
import { createGunzip, createGzip } from 'node:zlib';
import { codeOf } from '../../lib/error-code.ts';
import { InvalidInput } from '../../model/errors.ts';
import { ArchiveCutShort, damagedArchiveError } from './format.ts';
import { type OnExcess, refuseExcess, sizeLimits } from './limits.ts';
import type { PackedArchive } from './packed.ts';

/** Compresses an archive. Destroys the stream with the error when writing the archive fails. */
export function compressArchive(texts: AsyncIterable<string>): Readable {
  const source = Readable.from(texts);
  const gzip = createGzip();
  source.on('error', (error) => gzip.destroy(error));
  // When the reader closes the stream, stop producing text for it.
  gzip.on('close', () => source.destroy());
  return source.pipe(gzip);
}

/**
 * Size of the chunks in which an archive is unpacked, in bytes. Other work runs between two chunks; smaller chunks take
 * longer in total.
 */
const unpackedChunkBytes = 32 * 1024;

/**
 * Yields the lines of a compressed archive: the lines that end in one unpacked chunk at a time, as bytes that include
 * the line feed. Throws `InvalidInput` when the data is not compressed or is cut short. By default it also throws when
 * the archive exceeds the limits of `sizeLimits`.
 */
export async function* archiveLines(
  archive: PackedArchive,
  onExcess: OnExcess = refuseExcess,
): AsyncGenerator<readonly Uint8Array[]> {
  const gunzip = createGunzip({ chunkSize: unpackedChunkBytes });
  const limits = sizeLimits(archive.size);
  const counted = { bytes: 0, lines: 0 };
  const source = Readable.from(archive.read());
  source.on('error', (error) => gunzip.destroy(error));
  source.pipe(gunzip);
  const splitter = createSplitter();
  try {
    for await (const chunk of gunzip) {
      // Gunzip yields bytes, because no encoding is set.
      const bytes = chunk as Uint8Array;
      counted.bytes += bytes.length;
      const lines = splitter.take(bytes);
      counted.lines += lines.length;
      if (counted.bytes > limits.bytes)
        onExcess('it unpacks to far more data than is accepted for an archive of its size');
      if (counted.lines > limits.lines) onExcess('it has far more rows than are accepted for an archive of its size');
      if (splitter.waiting() > limits.line) onExcess('one of its lines is too long');
      yield lines;
    }
  } catch (error) {
    throw toDecompressionError(error);
  } finally {
    source.destroy();
    gunzip.destroy();
  }
  if (splitter.waiting() > 0) throw new ArchiveCutShort();
}

const lineFeed = 0x0a;

/**
 * Splits bytes that arrive in pieces into lines. Joins the pieces of an unfinished line only once, when the line ends.
 */
function createSplitter() {
  let pieces: Uint8Array[] = [];
  let length = 0;
  const finish = (last: Uint8Array): Uint8Array => {
    if (pieces.length === 0) return last;
    const line = Buffer.concat([...pieces, last]);
    [pieces, length] = [[], 0];
    return line;
  };
  return {
    /** Number of bytes in the unfinished line. */
    waiting: () => length,
    take(bytes: Uint8Array): readonly Uint8Array[] {
      const lines: Uint8Array[] = [];
      let from = 0;
      for (let end = bytes.indexOf(lineFeed); end >= 0; end = bytes.indexOf(lineFeed, from)) {
        lines.push(finish(bytes.subarray(from, end + 1)));
        from = end + 1;
      }
      if (from < bytes.length) pieces.push(bytes.subarray(from));
      length += bytes.length - from;
      return lines;
    },
  };
}

/** Turns an error of the decompression into a message for the operator. */
function toDecompressionError(error: unknown): unknown {
  const code = codeOf(error);
  if (error instanceof InvalidInput) return error;
  if (error instanceof Error && error.message === 'incorrect header check')
    return new InvalidInput('this is not an archive of Heddle; give a file that `heddle backup` wrote');
  if (code === 'Z_BUF_ERROR') return new ArchiveCutShort();
  if (code === 'Z_DATA_ERROR') return damagedArchiveError('it cannot be unpacked');
  return error;
}
