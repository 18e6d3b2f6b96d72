import { archiveLines } from './lines.ts';
import { type ArchiveStructure, createStructureReader } from './structure.ts';

/**
 * Reads an archive to its end and checks its order, counts and checksums, without parsing or keeping its rows. Whatever
 * the archive contains, this needs memory for one line. Throws `InvalidInput` when a check fails. The signature is left
 * to the caller, who has the keys.
 */
export async function verifyArchive(compressed: AsyncIterable<Uint8Array>): Promise<ArchiveStructure> {
  const reader = createStructureReader();
  for await (const lines of archiveLines(compressed)) for (const line of lines) reader.take(line);
  return reader.end();
}
