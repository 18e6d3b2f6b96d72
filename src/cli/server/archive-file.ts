import { createReadStream } from 'node:fs';
import { type ArchiveHeader, damagedArchiveError, readArchive } from '../../db/archive/format.ts';
import { archiveLines } from '../../db/archive/lines.ts';
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
  let header: ArchiveHeader | undefined;
  let keys: readonly string[] = [];
  let objects = 0;
  for await (const item of readArchive(archiveLines(bytesOf(file)))) {
    if ('header' in item) header = item.header;
    if ('keys' in item) keys = item.keys;
    if ('row' in item && item.section === 'objects') objects += 1;
  }
  if (header === undefined) throw damagedArchiveError('it is empty');
  const { account, revision, createdAt, history } = header;
  return { account, revision, createdAt, history, objects, keys };
}

async function* bytesOf(file: string): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(file);
  } catch (cause) {
    const reason = codeOf(cause) === 'ENOENT' ? 'does not exist' : 'cannot be read';
    throw new InvalidInput(`${file} ${reason}; name a file that \`heddle backup\` wrote.`, { cause });
  }
}
