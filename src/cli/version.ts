import { programVersion } from '../version.ts';
import { defineCommand } from './command.ts';
import { exit } from './exit.ts';

export const version = defineCommand({
  name: 'version',
  summary: 'Print the version of this program.',
  flags: {},
  settings: [],
  examples: [],
  async run({ terminal }) {
    terminal.out(`heddle ${programVersion()} (Node ${process.versions.node})\n`);
    return exit.ok;
  },
});
