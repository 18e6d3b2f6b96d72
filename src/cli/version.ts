import { readFileSync } from 'node:fs';
import { defineCommand } from './command.ts';
import { exit } from './exit.ts';

export const version = defineCommand({
  name: 'version',
  summary: 'Tell the version of this program.',
  flags: {},
  settings: [],
  examples: [],
  async run({ terminal }) {
    terminal.out(`heddle ${programVersion()} (Node ${process.versions.node})\n`);
    return exit.ok;
  },
});

/** The version in package.json. */
export function programVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  const { version: number } = JSON.parse(text) as { readonly version: string };
  return number;
}
