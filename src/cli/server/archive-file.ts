import { createReadStream } from 'node:fs';
import { verifyArchive } from '../../db/archive/verify.ts';
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
}

/** Reads a backup to its end and returns its summary. Throws `InvalidInput` when the backup is incomplete. */
export async function readArchiveSummary(file: string): Promise<ArchiveSummary> {
  const { header, rows, keys } = await verifyArchive(bytesOf(file));
  const { account, revision, createdAt, history } = header;
  return { account, revision, createdAt, history, objects: rows.get('objects') ?? 0, keys };
}

async function* bytesOf(file: string): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(file);
  } catch (cause) {
    const reason = codeOf(cause) === 'ENOENT' ? 'does not exist' : 'cannot be read';
    throw new InvalidInput(`${file} ${reason}; name a file that \`heddle backup\` wrote.`, { cause });
  }
}
