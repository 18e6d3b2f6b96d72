import { Readable } from 'node:stream';
import { createGunzip, createGzip } from 'node:zlib';
import { InvalidInput } from '../model/errors.ts';
import { damaged } from './archive-format.ts';

/** The compressed form of an archive, as a stream. When writing it fails, the stream breaks off. */
export function compressArchive(texts: AsyncIterable<string>): Readable {
  const source = Readable.from(texts);
  const gzip = createGzip();
  source.on('error', (error) => gzip.destroy(error));
  // Whoever reads may leave; what is written for them ends then too.
  gzip.on('close', () => source.destroy());
  return source.pipe(gzip);
}

/** A line holds one object; none is nearly so long. */
const longestLine = 256 * 1024 * 1024;

/** The lines of a compressed archive. Throws `InvalidInput` for what is not compressed, or cut short. */
export async function* archiveLines(compressed: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const gunzip = createGunzip();
  const source = Readable.from(compressed);
  source.on('error', (error) => gunzip.destroy(error));
  source.pipe(gunzip);
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let rest = '';
  try {
    for await (const chunk of gunzip) {
      const parts = (rest + decoder.decode(chunk as Uint8Array, { stream: true })).split('\n');
      rest = parts.pop() ?? '';
      if (rest.length > longestLine) throw damaged('a line of it is too long');
      yield* parts;
    }
  } catch (error) {
    throw explain(error);
  } finally {
    source.destroy();
    gunzip.destroy();
  }
  if (rest !== '') throw damaged('it is cut short');
}

/** What the decompression says, in words for people. */
function explain(error: unknown): unknown {
  const code = String((error as NodeJS.ErrnoException).code);
  if (error instanceof InvalidInput) return error;
  if (error instanceof Error && error.message === 'incorrect header check')
    return new InvalidInput('this is no archive of Heddle; give a file that `heddle backup` wrote');
  if (code === 'Z_BUF_ERROR') return damaged('it is cut short');
  if (code === 'Z_DATA_ERROR' || code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return damaged('it cannot be unpacked');
  return error;
}
