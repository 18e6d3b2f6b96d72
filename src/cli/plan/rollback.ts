import { InvalidInput } from '../../model/errors.ts';
import { clientSettings, connect } from '../client.ts';
import { defineCommand, type Invocation } from '../command.ts';
import { writeJson } from '../failure.ts';
import { jsonFlag } from '../flags.ts';
import { autoApproveFlag, requireConfirmable } from '../terminal/confirm.ts';
import { decide } from './decide.ts';
import { accessFlag } from './plan-pairs.ts';
import { requestRollback } from './planning.ts';

export const rollback = defineCommand({
  name: 'rollback',
  summary: 'Bring back what sources had in the account after a former revision.',
  details:
    'Shows the plan, asks, and applies exactly what was shown, all of it or nothing: objects come back under their ids. The sources concerned are suspended, so that they do not undo it; put right what they read, then `heddle resume` lets them run. Restrictions are not undone, and credentials do not come back.',
  argument: {
    placeholder: 'REVISION',
    doc: 'the revision whose state comes back; `heddle history` lists them',
    most: 1,
  },
  flags: {
    scope: {
      placeholder: 'SCOPE',
      doc: 'What comes back: sources (what sources own, the default), source:NAME (what one of them owns) or all.',
    },
    ...autoApproveFlag,
    ...accessFlag,
    approve: { placeholder: 'DIGEST', doc: 'Approve the plan with this digest although a guard tripped.' },
    'detailed-exitcode': { doc: 'Exit with 2 when there were changes.' },
    ...jsonFlag,
  },
  settings: clientSettings,
  examples: [
    ['heddle rollback 41', 'Show what going back to revision 41 takes, ask, do it'],
    ['heddle rollback 41 --scope source:team --auto-approve', 'Go back with what one source owns, without asking'],
  ],
  async run(invocation) {
    const { flags, positionals, config, terminal } = invocation;
    requireConfirmable(invocation, 'apply', 'the plan');
    const client = await connect(config);
    const plan = await requestRollback(client, revisionIn(positionals), scopeIn(flags), terminal);
    const result = await decide({ ...invocation, again: ['heddle', 'apply', plan.id] }, client, plan);
    if (flags['json'] === true) writeJson(terminal, result.document);
    return result.code;
  },
});

function revisionIn([text = '']: readonly string[]): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidInput(`\`${text}\` is no revision; write its number, which \`heddle history\` shows.`);
}

function scopeIn({ scope }: Invocation['flags']): string {
  return typeof scope === 'string' ? scope : 'sources';
}
