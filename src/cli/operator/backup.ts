import { NotFound } from '../../model/errors.ts';
import { programVersion } from '../../version.ts';
import { defineCommand } from '../command.ts';
import { exit } from '../exit.ts';
import { writeJson } from '../failure.ts';
import { jsonFlag } from '../flags.ts';
import { describeBackup, refuseToOverwrite, writeChecked } from '../server/backup.ts';
import { withProgress } from '../terminal/progress.ts';
import { offlineSettings } from './settings.ts';

export const operatorBackup = defineCommand({
  name: 'operator backup',
  summary: 'Write any account of the server to a file, with the key of the server.',
  details:
    "For the operator of the server: the command opens the database itself. Stop a server with an embedded database first. Without --account it writes the operator's account. Secrets in the file stay sealed: also keep the key of the server, but in another place.",
  argument: { placeholder: 'FILE', doc: 'where to write it, such as heddle.ndjson.gz', most: 1 },
  flags: {
    account: { placeholder: 'ACCOUNT', doc: 'The id of the account.' },
    'no-history': { doc: 'Leave out the history; the audit events are included.' },
    force: { doc: 'Overwrite the file if it exists.' },
    ...jsonFlag,
  },
  settings: offlineSettings,
  examples: [['heddle operator backup acme.ndjson.gz --account ch8i4ug6lnn4g9hqv7t0', 'Write the account of a tenant']],
  async run({ flags, positionals: [file = ''], config, terminal }) {
    if (flags['force'] !== true) await refuseToOverwrite(file);
    const summary = await withProgress(terminal, 'backing up', async () => {
      const { withExistingDatabase } = await import('../../app/offline.ts');
      const { backUp } = await import('../../features/config/archive/backup.ts');
      const { operatorAccountOf } = await import('../../commit/operator.ts');
      return withExistingDatabase(config, async (engine) => {
        const account = typeof flags['account'] === 'string' ? flags['account'] : await operatorAccountOf(engine);
        if (account === undefined)
          throw new NotFound("no account is recorded as the operator's; name one with --account");
        const history = flags['no-history'] !== true;
        return writeChecked(file, (await backUp(engine, account, { history, program: programVersion() })).stream);
      });
    });
    if (flags['json'] === true) writeJson(terminal, { formatVersion: '1.0', file, ...summary });
    else terminal.out(describeBackup(file, summary));
    return exit.ok;
  },
});
