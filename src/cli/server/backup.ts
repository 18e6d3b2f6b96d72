import { createWriteStream } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ArchiveCutShort } from '../../db/archive/format.ts';
import { printable } from '../../lib/text/printable.ts';
import { InvalidInput, Unavailable } from '../../model/errors.ts';
import { archive } from '../../operations/config/archive.ts';
import { clientSettings, connect, download } from '../client.ts';
import { defineCommand } from '../command.ts';
import { exit } from '../exit.ts';
import { writeJson } from '../failure.ts';
import { jsonFlag } from '../flags.ts';
import { count } from '../terminal/problems.ts';
import { withProgress } from '../terminal/progress.ts';
import { toWriteError } from '../write-file.ts';
import { type ArchiveSummary, describeExcess, openArchiveFile, readArchiveSummary } from './archive-file.ts';

export const backup = defineCommand({
  name: 'backup',
  summary: 'Write the account to a file from which `heddle operator restore` can restore it.',
  details:
    'The file holds one revision, even when changes are committed while it is written: objects with their ids and the sources that state them, sources, audit events and tokens (as hashes), with the history. It is checked when it is complete. Secrets in it stay sealed: back up the key of the server too, in a different place.',
  argument: { placeholder: 'FILE', doc: 'where to write it, such as heddle.ndjson.gz', most: 1 },
  flags: {
    'no-history': { doc: 'Leave out the history, but not the audit events.' },
    force: { doc: 'Overwrite the file if it exists.' },
    ...jsonFlag,
  },
  settings: clientSettings,
  examples: [['heddle backup heddle-$(date +%F).ndjson.gz', 'Write a backup with the date in its name']],
  async run({ flags, positionals: [file = ''], config, terminal }) {
    if (flags['force'] !== true) await refuseToOverwrite(file);
    const client = await connect(config);
    const query = flags['no-history'] === true ? { history: false } : {};
    const summary = await withProgress(terminal, 'backing up', async () =>
      writeChecked(file, await download(client, archive.backUp, { query })),
    );
    if (flags['json'] === true) writeJson(terminal, { formatVersion: '1.0', file, ...summary });
    else terminal.out(describeBackup(file, summary));
    return exit.ok;
  },
});

/** Throws `InvalidInput` when the file exists already. */
export async function refuseToOverwrite(file: string): Promise<void> {
  const present = await stat(file).catch(() => undefined);
  if (present !== undefined)
    throw new InvalidInput(`${file} exists already; choose another name, or overwrite it with --force.`);
}

/** Writes to a temporary file, checks it, and renames it: a file with the final name is always a complete backup. */
export async function writeChecked(file: string, bytes: AsyncIterable<Uint8Array>): Promise<ArchiveSummary> {
  const unfinished = `${file}.unfinished`;
  try {
    // Readable only for this user, because an archive contains everything about the account.
    await pipeline(Readable.from(bytes), createWriteStream(unfinished, { mode: 0o600, flush: true }));
    const summary = await readArchiveSummary(await openArchiveFile(unfinished));
    await rename(unfinished, file);
    return summary;
  } catch (error) {
    // The first error is the one to report; where the file could not be written, it cannot be removed either.
    await rm(unfinished, { force: true }).catch(() => {});
    throw toBackupError(file, error);
  }
}

function toBackupError(file: string, error: unknown): unknown {
  if (error instanceof ArchiveCutShort)
    return new Unavailable(`The server ended the transfer before the backup was complete; run the command again.`, {
      cause: error,
    });
  return toWriteError(file, error, 'No backup was made.');
}

/** Returns a text for people about the backup that was written. */
export function describeBackup(file: string, summary: ArchiveSummary): string {
  const { account, revision, objects, history, keys } = summary;
  const what = `Wrote ${printable(file)}: the account ${account} at revision ${revision}, ${count(objects, 'object')}, ${history ? 'with' : 'without'} its history.`;
  const list = keys.join(', ');
  const sealed =
    keys.length === 0
      ? ''
      : `Its secrets are sealed with the key ${list}; without that key in HEDDLE_SECRET_KEY it cannot be restored.\n`;
  return `${what}\n${sealed}${describeExcess(summary)}`;
}
