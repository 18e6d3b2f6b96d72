import { refuseExcess } from '../../db/archive/limits.ts';
import type { AnswerOf } from '../../model/operation/operation.ts';
import { archive as operations } from '../../operations/config/archive.ts';
import { call, clientSettings, connect } from '../client.ts';
import { defineCommand } from '../command.ts';
import { exit } from '../exit.ts';
import { printFailure, writeJson } from '../failure.ts';
import { jsonFlag, textsOf } from '../flags.ts';
import { autoApproveFlag, isConfirmed, requireConfirmable } from '../terminal/confirm.ts';
import { count } from '../terminal/problems.ts';
import { withProgress } from '../terminal/progress.ts';
import {
  type ArchiveSummary,
  describeExcess,
  openArchiveFile,
  readArchiveSummary,
  uploadExcess,
} from './archive-file.ts';

export const restore = defineCommand({
  name: 'restore',
  summary: 'Restore the objects of the account to their state in a file that `heddle backup` wrote.',
  details:
    'For owners of the account in the file. The objects get their earlier state and ids back, in one revision like a rollback, and the sources that stated them are suspended. People, tokens, identities, tenants and the history are not changed. The file must be unchanged since the server wrote it. To restore whole accounts, run `heddle operator restore` on the server.',
  argument: { placeholder: 'FILE', doc: 'a file that `heddle backup` wrote', most: 1 },
  flags: {
    replace: { placeholder: 'ACCOUNT', doc: 'The id of the account: its objects are replaced.' },
    ...autoApproveFlag,
    ...jsonFlag,
  },
  settings: clientSettings,
  examples: [
    ['heddle restore heddle.ndjson.gz --replace ch8i4ug6lnn4g9hqv7a0', 'Restore the earlier state of the account'],
  ],
  async run(invocation) {
    const { flags, positionals, config, terminal } = invocation;
    const [file = ''] = positionals;
    requireConfirmable(invocation, 'restore', 'the account');
    const archive = await openArchiveFile(file);
    // No server reads a longer body to the end. All other limits are left to the server.
    const excess = uploadExcess(archive);
    if (excess !== undefined) refuseExcess(excess);
    const summary = await withProgress(terminal, 'checking the backup', () => readArchiveSummary(archive));
    const client = await connect(config);
    if (flags['auto-approve'] !== true) terminal.note(`${describeArchive(summary)}\n${describeExcess(summary)}`);
    if (!(await isConfirmed(invocation, `Restore the objects of the account on ${config.server} to that state?`)))
      return printFailure(invocation, exit.error, 'Nothing was restored.');
    // The bytes that were described: another program may have replaced the file since.
    const chunks: Uint8Array[] = [];
    for await (const chunk of archive.read()) chunks.push(chunk);
    const given = { query: textsOf(flags, ['replace']), bytes: Buffer.concat(chunks) };
    const report = await withProgress(terminal, 'restoring', () => call(client, operations.restore, given));
    if (flags['json'] === true) writeJson(terminal, { formatVersion: '1.0', ...report });
    else
      terminal.out(
        `${describeRestored(report)}Sources that stated restored objects are suspended; resume them with \`heddle resume\`.\n`,
      );
    return exit.ok;
  },
});

/** Returns a text for people about the content of a backup. */
export function describeArchive({ account, revision, createdAt, objects }: ArchiveSummary): string {
  return `The backup holds the account ${account} at revision ${revision}, made at ${createdAt}: ${count(objects, 'object')}.`;
}

type Restored = Omit<AnswerOf<typeof operations.restore>, 'rows' | 'history'>;

/** Returns a text for people about what was restored. */
export function describeRestored({ account, restored, createdAt, objects, revision }: Restored): string {
  return `Restored the account ${account} as of revision ${restored} (${createdAt}): ${count(objects, 'object')}. It is at revision ${revision} now.\n`;
}
