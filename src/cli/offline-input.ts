import { type DocumentInput, readInput } from '../documents/input.ts';
import { createReader } from '../documents/reader.ts';
import type { SourceFile } from '../model/document.ts';

/** Nobody waits for this process but who called it, and a thread takes 0.1 s to start, in which it reads so much. */
const charactersHere = 64 * 1024;

/** Reads documents without a server. */
export async function readOffline(files: readonly SourceFile[]): Promise<DocumentInput> {
  const reader = createReader({ charactersHere });
  try {
    return await readInput(reader, files);
  } finally {
    await reader.close();
  }
}
