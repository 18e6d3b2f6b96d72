import type { Command, ListedFlag } from '../cli/command.ts';
import { flagsOf } from '../cli/flags.ts';

/**
 * Returns the module that lists the commands with their summaries and flags, so that the help of the program and the
 * completion scripts need not load every command. Most flags occur at many commands, so each form is written once.
 */
export function commandListFile(commands: readonly Command[]): string {
  const uses = commands.flatMap((command) => flagUses(command));
  const keys = keysOf(uses);
  const forms = new Map(uses.map(({ text, name }) => [keys.get(text) ?? name, text]));
  const rows = commands.map((command) => {
    const flags = flagUses(command).map(({ text }) => `flags[${quote(keys.get(text) ?? '')}]`);
    return `  { name: ${quote(command.name)}, summary: ${quote(command.summary)}, flags: [${flags.join(', ')}] },`;
  });
  return `// Written by \`npm run gen\` from the commands in src/cli; do not edit.
import type { ListedCommand, ListedFlag } from './command.ts';

const flags = {
${[...forms].map(([key, text]) => `  ${quote(key)}: ${text},`).join('\n')}
} as const satisfies Readonly<Record<string, ListedFlag>>;

/** All commands, in the order of the help text. */
export const commandList: readonly ListedCommand[] = [
${rows.join('\n')}
];
`;
}

interface FlagUse {
  readonly command: string;
  readonly name: string;
  /** The flag as source text, which is equal where its name, value and documentation are equal. */
  readonly text: string;
}

function flagUses(command: Command): readonly FlagUse[] {
  return Object.entries(flagsOf(command)).map(([name, { doc, placeholder }]) => {
    const flag: ListedFlag = { name, doc, ...(placeholder === undefined ? {} : { takesValue: true }) };
    const members = Object.entries(flag).map(([member, value]) => `${member}: ${JSON.stringify(value)}`);
    return { command: command.name, name, text: `{ ${members.join(', ')} }` };
  });
}

/**
 * Returns the key of each form of a flag: its name, with the first command where another form has that name already.
 */
function keysOf(uses: readonly FlagUse[]): ReadonlyMap<string, string> {
  const keys = new Map<string, string>();
  const taken = new Set<string>();
  for (const { command, name, text } of uses) {
    if (keys.has(text)) continue;
    const key = taken.has(name) ? `${name} of ${command}` : name;
    taken.add(key);
    keys.set(text, key);
  }
  return keys;
}

function quote(text: string): string {
  return JSON.stringify(text);
}
