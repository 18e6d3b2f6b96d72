import { InvalidInput } from '../../model/errors.ts';
import { clientSettings, connect } from '../client.ts';
import { defineCommand, type Invocation } from '../command.ts';
import { writeJson } from '../failure.ts';
import { jsonFlag } from '../flags.ts';
import { autoApproveFlag, requireConfirmable } from '../terminal/confirm.ts';
import { confirmAndApply } from './decide.ts';
import { accessFlag } from './plan-pairs.ts';
import { requestRollback } from './planning.ts';

export const rollback = defineCommand({
  name: 'rollback',
  summary: 'Restore what sources had in the account after an earlier revision.',
  details:
    'Shows the plan, asks for confirmation, and applies exactly what was shown, all of it or nothing: objects are restored under their ids. The sources concerned are suspended, so that they do not undo the rollback; correct their documents, then let them run again with `heddle resume`. Restrictions are not undone, and credentials are not restored.',
  argument: {
    placeholder: 'REVISION',
    doc: 'the revision to restore; `heddle history` lists the revisions',
    most: 1,
  },
  flags: {
    scope: {
      placeholder: 'SCOPE',
      doc: 'What to restore: sources (what sources own, the default), source:NAME (what one of them owns) or all.',
    },
    ...autoApproveFlag,
    ...accessFlag,
    approve: { placeholder: 'DIGEST', doc: 'Approve the plan with this digest although a guard tripped.' },
    'detailed-exitcode': { doc: 'Exit with 2 when there were changes.' },
    ...jsonFlag,
  },
  settings: clientSettings,
  examples: [
    ['heddle rollback 41', 'Show the plan that restores revision 41, ask for confirmation, apply it'],
    ['heddle rollback 41 --scope source:team --auto-approve', 'Restore what one source owned, without asking'],
  ],
  async run(invocation) {
    const { flags, positionals, config, terminal } = invocation;
    requireConfirmable(invocation, 'apply', 'the plan');
    const client = await connect(config);
    const plan = await requestRollback(client, revisionIn(positionals), scopeIn(flags), terminal);
    const result = await confirmAndApply({ ...invocation, again: ['heddle', 'apply', plan.id] }, client, plan);
    if (flags['json'] === true) writeJson(terminal, result.document);
    return result.code;
  },
});

function revisionIn([text = '']: readonly string[]): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidInput(`\`${text}\` is not a revision; write its number, which \`heddle history\` shows.`);
}

function scopeIn({ scope }: Invocation['flags']): string {
  return typeof scope === 'string' ? scope : 'sources';
}
