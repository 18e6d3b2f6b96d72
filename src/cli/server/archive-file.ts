import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { bodyLimit } from '../../api/config/body-limit.ts';
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

/** Reads a backup to its end and returns its summary. Throws `InvalidInput` when the backup is incomplete. */
export async function readArchiveSummary(file: string): Promise<ArchiveSummary> {
  const { structure, excess } = await measureArchive(bytesOf(file));
  const { header, rows, keys } = structure;
  const { account, revision, createdAt, history } = header;
  const operatorOnly = excess ?? ((await stat(file)).size > bodyLimit ? tooLong : undefined);
  const summary = { account, revision, createdAt, history, objects: rows.get('objects') ?? 0, keys };
  return operatorOnly === undefined ? summary : { ...summary, operatorOnly };
}

const tooLong = `it has more than ${bodyLimit / 1024 / 1024} MiB`;

async function* bytesOf(file: string): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(file);
  } catch (cause) {
    const reason = codeOf(cause) === 'ENOENT' ? 'does not exist' : 'cannot be read';
    throw new InvalidInput(`${file} ${reason}; name a file that \`heddle backup\` wrote.`, { cause });
  }
}
