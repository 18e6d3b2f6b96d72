import type { PlanPairs } from '../../operations/config/plan-access.ts';
import { clientSettings, connect } from '../client.ts';
import { defineCommand, type Invocation } from '../command.ts';
import { exit } from '../exit.ts';
import { writeJson } from '../failure.ts';
import { planFlags } from '../flags.ts';
import { formatFlag, formatOf } from '../formats.ts';
import { collectValues, valueSettings } from '../offline/values.ts';
import { formatPlan } from '../render/formats.ts';
import { approvalHint, renderPlan } from '../render/plan.ts';
import { applyCommand } from '../terminal/shell.ts';
import { collectFiles, pathArgument } from './files.ts';
import { writePlanFile } from './plan-file.ts';
import { accessFlag, readPairs, renderPairs, withPairs } from './plan-pairs.ts';
import { exitCodeOfPlan, requestPlan, type StoredPlan } from './planning.ts';
import { sourceNameOf } from './source-name.ts';

export const plan = defineCommand({
  name: 'plan',
  summary: 'Show what documents would change in the account; nothing is written.',
  details:
    'The server keeps the plan for a day: `heddle apply` with its id, or with the file of --out, applies exactly what was shown, and refuses if the plan would now do something else.',
  argument: pathArgument,
  flags: {
    out: {
      placeholder: 'FILE',
      doc: 'Write a file that identifies the plan, for `heddle apply FILE` and `heddle approve FILE`.',
    },
    ...accessFlag,
    ...formatFlag,
    ...planFlags,
  },
  settings: [...clientSettings, ...valueSettings],
  examples: [
    ['heddle plan examples/quickstart --source-name office', 'See what a directory would change'],
    ['heddle plan config --source-name team --detailed-exitcode', 'Fail a pipeline with 2 when the account differs'],
    ['heddle plan config --source-name team --format markdown > comment.md', 'Write the comment on a pull request'],
    [
      'heddle plan config --source-name team --out plan.json && heddle apply plan.json',
      'Apply exactly the plan that was reviewed, or nothing',
    ],
    ['heddle export | heddle plan - --source-name export', 'Plan an export; it changes nothing'],
  ],
  async run(invocation) {
    const { flags, positionals, config, terminal } = invocation;
    formatOf(flags);
    const { files, rules } = await collectFiles(positionals, terminal);
    const source = await sourceNameOf(positionals, flags);
    const values = await collectValues(files, config);
    const client = await connect(config);
    const view = await requestPlan(client, { source, files, rules, values }, flags, terminal);
    const { out } = flags;
    if (typeof out === 'string') await writePlanFile(out, view, config.server);
    show(invocation, view, flags['access'] === true ? await readPairs(client, view) : undefined);
    return exitCodeOfPlan(view, flags['detailed-exitcode'] === true);
  },
});

function show(
  { flags, positionals, terminal }: Pick<Invocation, 'flags' | 'positionals' | 'terminal'>,
  view: StoredPlan,
  pairs: PlanPairs | undefined,
) {
  const format = formatOf(flags);
  if (flags['json'] === true) return writeJson(terminal, withPairs(view, pairs));
  terminal.out(format === undefined ? renderPlan(view, terminal.paint) : formatPlan(format, view, pairs));
  if (pairs !== undefined && format === undefined) terminal.out(renderPairs(pairs, terminal.paint));
  if (exitCodeOfPlan(view, false) === exit.approval)
    terminal.note(approvalHint(view, applyCommand(positionals, flags)));
  const { out } = flags;
  if (typeof out === 'string')
    terminal.note(`Wrote a reference to the plan to ${out}; \`heddle apply ${out}\` applies it.\n`);
}
