import { randomUUID } from 'node:crypto';
import { allowExcess } from '../../db/archive/limits.ts';
import { verifyArchive } from '../../db/archive/verify.ts';
import { runInContext } from '../../telemetry/context.ts';
import { defineCommand } from '../command.ts';
import { exit } from '../exit.ts';
import { printFailure, writeJson } from '../failure.ts';
import { jsonFlag } from '../flags.ts';
import { openArchiveFile, summaryOf } from '../server/archive-file.ts';
import { describeArchive, describeRestored } from '../server/restore.ts';
import { autoApproveFlag, isConfirmed, requireConfirmable } from '../terminal/confirm.ts';
import { withProgress } from '../terminal/progress.ts';
import { offlineSettings } from './settings.ts';

export const operatorRestore = defineCommand({
  name: 'operator restore',
  summary: 'Restore a whole account from a backup, on the server and with its key.',
  details:
    "For the operator of the server: the command opens the database itself. Stop a server with an embedded database first; servers on Postgres keep running and are notified. The account is restored with its people, tokens, ids and history, in one step or not at all: it replaces an operator's account that was not used yet, is added as another account, or replaces itself when --replace names it. The archive must be signed with a key of the server.",
  argument: { placeholder: 'FILE', doc: 'a file that `heddle backup` or `heddle operator backup` wrote', most: 1 },
  flags: {
    replace: { placeholder: 'ACCOUNT', doc: 'Replace the account with this id, which is that of the backup.' },
    'accept-unsigned': {
      doc: 'Accept an archive that no key of this server signed. Its author may have added any person to it.',
    },
    ...autoApproveFlag,
    ...jsonFlag,
  },
  settings: offlineSettings,
  examples: [
    ['heddle operator restore heddle.ndjson.gz --auto-approve', 'Restore to a new server that is stopped'],
    [
      'heddle operator restore heddle.ndjson.gz --replace ch8i4ug6lnn4g9hqv7a0',
      'Restore an account to its state in the backup',
    ],
  ],
  async run(invocation) {
    const { flags, positionals, config, terminal } = invocation;
    const [file = ''] = positionals;
    requireConfirmable(invocation, 'restore', 'the account');
    const archive = await openArchiveFile(file);
    const structure = await withProgress(terminal, 'checking the backup', () => verifyArchive(archive, allowExcess));
    if (flags['auto-approve'] !== true) terminal.note(`${describeArchive(summaryOf(structure))}\n`);
    if (
      !(await isConfirmed(
        invocation,
        `Restore it into ${config.databaseUrl === undefined ? config.dataDir : 'the database'}?`,
      ))
    )
      return printFailure(invocation, exit.error, 'Nothing was restored.');
    const { replace } = flags;
    // Marks the restore in the audit log and the history, like the id of a request.
    const requestId = randomUUID();
    const report = await withProgress(terminal, 'restoring', async () => {
      // Imported on demand: most commands need neither a database nor an engine.
      const { withDatabase } = await import('../../app/offline.ts');
      const { restoreWholeAccount } = await import('../../features/config/archive/restore-account.ts');
      return withDatabase(config, (engine) =>
        runInContext({ requestId }, () =>
          restoreWholeAccount(engine, archive, {
            structure,
            acceptUnsigned: flags['accept-unsigned'] === true,
            ...(typeof replace === 'string' ? { replace } : {}),
          }),
        ),
      );
    });
    if (flags['json'] === true) writeJson(terminal, { formatVersion: '1.0', ...report, request_id: requestId });
    else
      terminal.out(
        `${describeRestored(report)}The audit log and the history list it under the request id ${requestId}.\nRestart the server if it was started with --source or --config.\n`,
      );
    return exit.ok;
  },
});
