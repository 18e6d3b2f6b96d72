import { metrics } from '../api/metrics.ts';
import { allCommands } from '../cli/commands.ts';
import { settings } from '../config.ts';
import { cellOf, modules, roles } from '../model/roles.ts';
import { table } from './readme.ts';

/** Every command with what it does. */
export async function commandTable(): Promise<string> {
  const commands = await allCommands(async () => {
    throw new Error('the commands are only described here');
  });
  const rows = commands.map(({ name, argument, summary }) => [
    `\`heddle ${name}${argument === undefined ? '' : ` ${argument.placeholder}`}\``,
    summary,
  ]);
  return table(['Command', 'Does'], rows);
}

/** Every setting with its flag and its variable. */
export function settingTable(): string {
  const rows = Object.values(settings).map(({ flag, variable, placeholder, doc, isSwitch }) => [
    flag === undefined ? '' : `\`--${flag}${isSwitch === true ? '' : ` ${placeholder}`}\``,
    variable === undefined ? '' : `\`${variable}\``,
    doc,
  ]);
  return table(['Flag', 'Variable', 'Meaning'], rows);
}

/** Every metric that `/metrics` shows. */
export function metricTable(): string {
  const rows = Object.entries(metrics).map(([name, { type, labels, help }]) => [
    `\`${name}\``,
    type,
    labels.map((label) => `\`${label}\``).join(', '),
    help,
  ]);
  return table(['Metric', 'Type', 'Labels', 'Meaning'], rows);
}

/** What each role may do, by module. */
export function roleTable(): string {
  const rows = modules.map((module) => [`\`${module}\``, ...roles.map((role) => cellOf(role, module))]);
  return table(['Module', ...roles.map((role) => `\`${role}\``)], rows);
}
