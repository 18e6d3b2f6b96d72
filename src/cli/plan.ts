import { clientSettings, connect } from './client.ts';
import { defineCommand } from './command.ts';
import { exit } from './exit.ts';
import { writeJson } from './failure.ts';
import { collectFiles, pathArgument } from './files.ts';
import { planFlags } from './flags.ts';
import { exitCodeOfPlan, requestPlan } from './planning.ts';
import { approvalHint, renderPlan } from './render.ts';
import { applyCommand } from './shell.ts';
import { collectValues, valueSettings } from './values.ts';

export const plan = defineCommand({
  name: 'plan',
  summary: 'Show what documents would change in the account; nothing is written.',
  argument: pathArgument,
  flags: planFlags,
  settings: [...clientSettings, ...valueSettings],
  examples: [
    ['heddle plan examples/quickstart', 'See what a directory would change'],
    ['heddle plan config --source-name team --detailed-exitcode', 'Fail a pipeline with 2 when the account differs'],
    ['heddle export | heddle plan -', 'Plan an export; it changes nothing'],
  ],
  async run({ flags, positionals, config, terminal }) {
    const files = await collectFiles(positionals, terminal);
    const values = await collectValues(files, config);
    const view = await requestPlan(await connect(config), { files, values }, flags, terminal);
    const code = exitCodeOfPlan(view, flags['detailed-exitcode'] === true);
    if (flags['json'] === true) {
      writeJson(terminal, view);
      return code;
    }
    terminal.out(renderPlan(view, terminal.paint));
    if (code === exit.approval) terminal.note(approvalHint(view, applyCommand(positionals, flags)));
    return code;
  },
});
