import { type DocumentInput, readInput } from '../../documents/input.ts';
import { createReader } from '../../documents/reader.ts';
import type { SourceFile } from '../../model/document.ts';

/**
 * Number of characters that are parsed on the main thread. Starting a thread takes 0.1 s, in which the main thread
 * parses about as much, and no other work waits for it here.
 */
const mainThreadCharacters = 64 * 1024;

/** Reads documents without a server, and passes them to `use`. */
export async function readOffline<Result>(
  files: readonly SourceFile[],
  use: (input: DocumentInput) => Promise<Result> | Result,
): Promise<Result> {
  // Each file is read once, so a cache would be of no use.
  const reader = createReader({ maxInlineCharacters: mainThreadCharacters, cacheBytes: 0 });
  try {
    return await use(await readInput(reader, files));
  } finally {
    await reader.close();
  }
}
