import { Conflict } from '../../model/errors.ts';
import { type Client, clientSettings, connect } from '../client.ts';
import { defineCommand, type Invocation } from '../command.ts';
import { exit } from '../exit.ts';
import { printFailure, writeJson } from '../failure.ts';
import { jsonFlag } from '../flags.ts';
import { renderPlan } from '../render/plan.ts';
import { readSources } from '../sources/source-names.ts';
import { autoApproveFlag, isConfirmed, requireConfirmable } from '../terminal/confirm.ts';
import { needsApproval, requestApproval, type StoredPlan } from './planning.ts';
import { type PlanName, planNamed, readNamed, requireOpen } from './stored-plan.ts';

export const approve = defineCommand({
  name: 'approve',
  summary: 'Approve a plan that a guard stopped: exactly this one, and no other.',
  details:
    'Shows the plan, asks for confirmation, and approves its digest. A source that a server runs then applies the plan itself; otherwise run `heddle apply` with the same plan. `heddle plans --state needs_approval` lists the plans that wait for an approval.',
  argument: {
    placeholder: 'PLAN [DIGEST]',
    doc: 'the id of a plan or the file of `heddle plan --out`; with a digest, the plan is approved only if it has that digest',
    most: 2,
  },
  flags: { ...autoApproveFlag, ...jsonFlag },
  settings: clientSettings,
  examples: [
    ['heddle approve d1ns4cafcndc00000000', 'View a plan that waits, and approve it'],
    ['heddle approve plan.json --auto-approve', 'Approve from a pipeline, after a review'],
  ],
  async run(invocation) {
    const { positionals, config } = invocation;
    const [word = '', digest] = positionals;
    requireConfirmable(invocation, 'approve', 'the plan');
    const client = await connect(config);
    const name: PlanName = (await planNamed([word])) ?? { id: word };
    const plan = await readNamed(client, name, config.server);
    requireOpen(plan);
    if (digest !== undefined && digest !== plan.digest)
      throw new Conflict(
        'stale',
        `Plan ${plan.id} has the digest ${plan.digest}, not ${digest}; nothing was approved.`,
      );
    return await decide(invocation, client, plan);
  },
});

type Call = Pick<Invocation, 'flags' | 'terminal'>;

async function decide(call: Call, client: Client, plan: StoredPlan): Promise<number> {
  const { flags, terminal } = call;
  const json = flags['json'] === true;
  if (!json) terminal.out(renderPlan(plan, terminal.paint));
  else if (flags['auto-approve'] !== true) terminal.note(renderPlan(plan, terminal.notePaint));
  const waits = needsApproval(plan);
  if (waits && !(await isConfirmed(call, 'Approve this plan?')))
    return printFailure(call, exit.error, 'Nothing was approved.', { plan });
  const approved = waits ? await requestApproval(client, plan) : plan;
  const next = await nextStep(client, approved);
  if (json) writeJson(terminal, documentOf(approved, next));
  else terminal.out(`${waits ? 'Approved.' : approvalStateText(plan)} ${next.text}\n`);
  return exit.ok;
}

/** Returns a sentence on the state of a plan that needs no approval any more. */
function approvalStateText({ state, approvedBy, approvedAt }: StoredPlan): string {
  if (state !== 'approved') return 'The plan needs no approval.';
  return `The plan is already approved${approvedBy === undefined ? '' : ` by ${approvedBy.name} at ${approvedAt}`}.`;
}

interface Next {
  /** `source`: its source applies the plan. `apply`: the user runs `heddle apply`. */
  readonly by: 'source' | 'apply';
  readonly text: string;
}

async function nextStep(client: Client, { id, source }: StoredPlan): Promise<Next> {
  const found = (await readSources(client)).find((one) => one.id === source);
  const own = `\`heddle apply ${id}\` applies it.`;
  if (found === undefined || found.type === 'push') return { by: 'apply', text: own };
  if (found.suspended)
    return {
      by: 'apply',
      text: `The source ${source} is suspended: \`heddle resume ${source}\` lets it run again, or ${own}`,
    };
  return {
    by: 'source',
    text: `The source ${source} applies the plan itself; \`heddle status\` shows when it is applied.`,
  };
}

function documentOf(plan: StoredPlan, { by }: Next): object {
  return { formatVersion: '1.0', approved: plan.state === 'approved', appliedBy: by, plan };
}
