import { type DocumentInput, readInput } from '../../documents/input.ts';
import { createReader } from '../../documents/reader.ts';
import type { SourceFile } from '../../model/document.ts';

/** Only the caller waits for this process, and a thread takes 0.1 s to start, in which it reads so much. */
const charactersHere = 64 * 1024;

/** Reads documents without a server, and gives them to those who want to know what is wrong with them. */
export async function readOffline<Result>(
  files: readonly SourceFile[],
  use: (input: DocumentInput) => Promise<Result> | Result,
): Promise<Result> {
  const reader = createReader({ charactersHere });
  try {
    return await use(await readInput(reader, files));
  } finally {
    await reader.close();
  }
}
