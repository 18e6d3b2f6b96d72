import { Conflict, InvalidInput } from '../../model/errors.ts';
import { foreignOwnerCode } from '../../plan/documents/foreign-owner.ts';
import { type Client, clientSettings, connect } from '../client.ts';
import { defineCommand, type Invocation } from '../command.ts';
import { exit } from '../exit.ts';
import { writeJson } from '../failure.ts';
import { planFlags } from '../flags.ts';
import { collectValues, valueSettings } from '../offline/values.ts';
import { autoApproveFlag, requireConfirmable } from '../terminal/confirm.ts';
import { confirmAndApply } from './decide.ts';
import { collectFiles } from './files.ts';
import { accessFlag } from './plan-pairs.ts';
import { requestPlanToApply, type StoredPlan, settlePlan, writesNothing } from './planning.ts';
import { sourceNameOf } from './source-name.ts';
import { type PlanName, planNamed, readNamed, requireOpen } from './stored-plan.ts';

export const apply = defineCommand({
  name: 'apply',
  summary: 'Apply documents to the account, or apply an existing plan.',
  details:
    'Shows the plan, asks for confirmation, and applies exactly what was shown, all of it or nothing. An existing plan is named by its id or by the file of `heddle plan --out`.',
  argument: {
    placeholder: 'PATH…|PLAN',
    doc: 'files or directories of YAML or JSON documents, or - for standard input; or one plan',
  },
  flags: {
    ...autoApproveFlag,
    ...accessFlag,
    approve: { placeholder: 'DIGEST', doc: 'Approve the plan with this digest although a guard tripped.' },
    override: {
      placeholder: 'REASON',
      doc: 'Apply to a source that a server runs nevertheless, for this reason; it lasts until the server applies its own documents again.',
    },
    'expect-digest': { placeholder: 'DIGEST', doc: 'Refuse unless the plan has this digest.' },
    ...planFlags,
  },
  settings: [...clientSettings, ...valueSettings],
  examples: [
    [
      'heddle apply examples/quickstart --source-name office',
      'Show the plan of a directory, ask for confirmation, apply it',
    ],
    ['heddle apply config --source-name team --auto-approve', 'Apply from a pipeline'],
    ['heddle apply plan.json --auto-approve', 'Apply the plan that `heddle plan --out plan.json` made'],
  ],
  async run(invocation) {
    const { flags, positionals, config, terminal } = invocation;
    // The answer would be read from the input that contains the documents.
    const interactive = terminal.interactive && !positionals.includes('-');
    requireConfirmable({ flags, terminal: { interactive } }, 'apply', 'the plan');
    const name = await planNamed(positionals);
    if (name !== undefined) refuseDocumentFlags(flags);
    const client = await connect(config);
    const plan = name === undefined ? await planOf(invocation, client) : await openPlan(client, name, config.server);
    refuseForeign(plan);
    const result = await confirmAndApply(invocation, client, plan);
    if (result.code === exit.ok && writesNothing(plan)) await settlePlan(client, plan);
    if (flags['json'] === true) writeJson(terminal, result.document);
    return result.code;
  },
});

type Settings = (typeof clientSettings)[number] | (typeof valueSettings)[number];

async function planOf({ flags, positionals, config, terminal }: Invocation<Settings>, client: Client) {
  const { files, rules } = await collectFiles(positionals, terminal);
  const source = await sourceNameOf(positionals, flags);
  const values = await collectValues(files, config);
  return requestPlanToApply(client, { source, files, rules, values }, flags, terminal);
}

async function openPlan(client: Client, name: PlanName, server: string): Promise<StoredPlan> {
  const plan = await readNamed(client, name, server);
  requireOpen(plan);
  return plan;
}

/**
 * Throws `Conflict` when the plan contains objects of sources that a server runs: the server would refuse to apply
 * them, so the user is not asked.
 */
function refuseForeign({ warnings }: StoredPlan): void {
  const foreign = warnings.filter(({ code }) => code === foreignOwnerCode);
  const [first] = foreign;
  if (first === undefined) return;
  const more = foreign.length === 1 ? '' : ` (and ${foreign.length - 1} more)`;
  throw new Conflict('managed_field', `${first.message}${more}`, { problems: foreign });
}

/** Flags that also apply to an existing plan. */
const flagsForExistingPlans = ['json', 'detailed-exitcode', 'strict-base'];

/** Throws `InvalidInput` for flags about planning: for an existing plan they were decided when it was made. */
function refuseDocumentFlags(flags: Invocation['flags']): void {
  const given = Object.keys(planFlags).filter(
    (flag) => flags[flag] !== undefined && !flagsForExistingPlans.includes(flag),
  );
  if (given.length === 0) return;
  const list = given.map((flag) => `--${flag}`).join(', ');
  throw new InvalidInput(
    `${list} ${given.length === 1 ? 'is' : 'are'} only for documents; an existing plan cannot be changed. Leave ${given.length === 1 ? 'it' : 'them'} out, or make another plan.`,
  );
}
