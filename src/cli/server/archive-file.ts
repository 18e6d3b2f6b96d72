import { type FileHandle, open, stat } from 'node:fs/promises';
import { bodyLimit } from '../../api/config/body-limit.ts';
import { type PackedArchive, packedChunkBytes, refuseChanges } from '../../db/archive/packed.ts';
import type { ArchiveStructure } from '../../db/archive/structure.ts';
import { measureArchive } from '../../db/archive/verify.ts';
import { codeOf } from '../../lib/error-code.ts';
import { InvalidInput } from '../../model/errors.ts';

/** Summary of a backup file. */
export interface ArchiveSummary {
  readonly account: string;
  readonly revision: number;
  readonly createdAt: string;
  readonly history: boolean;
  readonly objects: number;
  /** Ids of the keys with which the backup's secrets are sealed. */
  readonly keys: readonly string[];
  /** Reason why only the operator can restore the backup, as a clause. Absent: an owner can restore it too. */
  readonly operatorOnly?: string;
}

/** Reads a backup to its end, measures it and returns its summary. Throws `InvalidInput` when the backup is incomplete. */
export async function readArchiveSummary(archive: PackedArchive): Promise<ArchiveSummary> {
  const { structure, excess } = await measureArchive(archive);
  const operatorOnly = uploadExcess(archive) ?? excess;
  return { ...summaryOf(structure), ...(operatorOnly === undefined ? {} : { operatorOnly }) };
}

/** Returns the summary of a backup that was verified but not measured. */
export function summaryOf({ header, rows, keys }: ArchiveStructure): ArchiveSummary {
  const { account, revision, createdAt, history } = header;
  return { account, revision, createdAt, history, objects: rows.get('objects') ?? 0, keys };
}

/** Returns why an archive cannot be sent to a server, as a clause. */
export function uploadExcess({ size }: PackedArchive): string | undefined {
  return size > bodyLimit ? `it has more than ${bodyLimit / 1024 / 1024} MiB` : undefined;
}

/**
 * Returns the archive in a file, which is never in the memory as a whole. Throws `InvalidInput` when the file cannot be
 * read, or is changed between two reads.
 */
export async function openArchiveFile(file: string): Promise<PackedArchive> {
  const { size } = await stat(file).catch((cause: unknown) => {
    throw toReadError(file, cause);
  });
  return refuseChanges({ size, read: () => chunksOf(file) });
}

async function* chunksOf(file: string): AsyncGenerator<Uint8Array> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(file);
    for (;;) {
      const chunk = await readChunk(handle);
      if (chunk.length === 0) return;
      yield chunk;
    }
  } catch (cause) {
    throw toReadError(file, cause);
  } finally {
    await handle?.close();
  }
}

/** Returns the next bytes of a file: a full chunk except at the end, even where the system reads less at a time. */
async function readChunk(handle: FileHandle): Promise<Uint8Array> {
  const chunk = Buffer.allocUnsafe(packedChunkBytes);
  let filled = 0;
  while (filled < chunk.length) {
    const { bytesRead } = await handle.read(chunk, filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return chunk.subarray(0, filled);
}

function toReadError(file: string, cause: unknown): InvalidInput {
  const reason = codeOf(cause) === 'ENOENT' ? 'does not exist' : 'cannot be read';
  return new InvalidInput(`${file} ${reason}; name a file that \`heddle backup\` wrote.`, { cause });
}

/** Returns a text for people about a backup that is too large for an owner to restore. Otherwise an empty text. */
export function describeExcess({ operatorOnly }: ArchiveSummary): string {
  return operatorOnly === undefined
    ? ''
    : `It is too large for \`heddle restore\`: ${operatorOnly}. To restore it, run \`heddle operator restore\` on the server.\n`;
}
