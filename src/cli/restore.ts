import { readFile } from 'node:fs/promises';
import { isObject } from '../lib/json.ts';
import { type ArchiveSummary, summaryOfFile } from './archive-file.ts';
import { hasLeave, leaveFlag, requireLeave } from './asking.ts';
import { accept, clientSettings, connect, unreadable } from './client.ts';
import { defineCommand } from './command.ts';
import { exit } from './exit.ts';
import { tellFailure, writeJson } from './failure.ts';
import { jsonFlag } from './flags.ts';
import { count } from './problems.ts';
import { withProgress } from './progress.ts';

export const restore = defineCommand({
  name: 'restore',
  summary: 'Make an account again from a file that `heddle backup` wrote.',
  details:
    'For a server that was not used yet, and started without sources: the account comes back with its ids, history and tokens, in one step or not at all, and the token of the server works on. A server in use puts back its own account only, when it is named with --replace; what happened in it since then is lost, but for the audit events.',
  argument: { placeholder: 'FILE', doc: 'a file that `heddle backup` wrote', most: 1 },
  flags: {
    replace: { placeholder: 'ACCOUNT', doc: 'Replace the account of the server, which has this id.' },
    ...leaveFlag,
    ...jsonFlag,
  },
  settings: clientSettings,
  examples: [
    ['heddle restore heddle.ndjson.gz --auto-approve', 'Restore to a new server'],
    ['heddle restore heddle.ndjson.gz --replace ch8i4ug6lnn4g9hqv7a0', 'Put a server back to where it was'],
  ],
  async run(invocation) {
    const { flags, positionals, config, terminal } = invocation;
    const [file = ''] = positionals;
    requireLeave(invocation, 'restore', 'the account');
    const summary = await withProgress(terminal, 'checking the backup', () => summaryOfFile(file));
    const client = await connect(config);
    if (flags['auto-approve'] !== true) terminal.note(`${described(summary)}\n`);
    if (!(await hasLeave(invocation, `Put it in the place of the account on ${config.server}?`)))
      return tellFailure(invocation, exit.error, 'Nothing was restored.');
    const { replace } = flags;
    const query = typeof replace === 'string' ? `?${new URLSearchParams({ replace })}` : '';
    const body = await readFile(file);
    const answer = await withProgress(terminal, 'restoring', () =>
      client.upload(`/api/config/restore${query}`, body, 'application/gzip'),
    );
    const report = accept(answer).body;
    if (!isObject(report)) throw unreadable('a report');
    if (flags['json'] === true) writeJson(terminal, { formatVersion: '1.0', ...report });
    else terminal.out(told(report));
    return exit.ok;
  },
});

function described({ account, revision, createdAt, objects }: ArchiveSummary): string {
  return `The backup holds the account ${account} at revision ${revision}, made at ${createdAt}: ${count(objects, 'object')}.`;
}

function told({ account, restored, createdAt, objects, revision }: Readonly<Record<string, unknown>>): string {
  return `Restored the account ${String(account)} as of revision ${String(restored)} (${String(createdAt)}): ${count(Number(objects), 'object')}. It is at revision ${String(revision)} now.\nServers that were running go on with it; one that was started with --source or --config wants a restart.\n`;
}
