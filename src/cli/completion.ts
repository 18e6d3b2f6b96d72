import { InvalidInput } from '../model/errors.ts';
import { defineCommand, type ListedCommand } from './command.ts';
import { commandList } from './command-list.ts';
import { exit } from './exit.ts';

const shells = { bash, zsh, fish } as const;

export const completion = defineCommand({
  name: 'completion',
  summary: 'Print the shell script that completes commands and flags.',
  argument: { placeholder: 'SHELL', doc: 'one of bash, zsh, fish', most: 1 },
  flags: {},
  settings: [],
  examples: [
    ['source <(heddle completion bash)', 'Enable completion in this bash session'],
    ['heddle completion fish > ~/.config/fish/completions/heddle.fish', 'Enable completion in every fish session'],
  ],
  async run({ positionals: [shell = ''], terminal }) {
    if (!Object.hasOwn(shells, shell))
      throw new InvalidInput(`\`${shell}\` is not a supported shell; choose bash, zsh or fish.`);
    // The cast is safe: `hasOwn` was checked above.
    terminal.out(shells[shell as keyof typeof shells](commandList));
    return exit.ok;
  },
});

function flagNames({ flags }: ListedCommand): readonly string[] {
  return [...flags.map(({ name }) => name), 'help'].map((flag) => `--${flag}`);
}

/** Maps the words typed so far to the words that may follow. Each word is listed once, in the order of the commands. */
function nextWords(commands: readonly ListedCommand[]): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, readonly string[]>();
  for (const { name } of commands) {
    const words = name.split(' ');
    for (const [at, word] of words.entries()) {
      const before = words.slice(0, at).join(' ');
      found.set(before, [...new Set([...(found.get(before) ?? []), word])]);
    }
  }
  return found;
}

function bash(commands: readonly ListedCommand[]): string {
  const flags = commands.map((command) => `    '${command.name}') words='${flagNames(command).join(' ')}' ;;`);
  const next = [...nextWords(commands)].map(([before, words]) => `      '${before}') words='${words.join(' ')}' ;;`);
  const depths = [...new Set(commands.map(({ name }) => name.split(' ').length))].sort((a, b) => a - b);
  const choices = depths.flatMap((depth) => [
    `  case "\${COMP_WORDS[*]:1:${depth}}" in`,
    ...commands.flatMap(({ name }) =>
      name.split(' ').length === depth ? [`    '${name}') command='${name}' ;;`] : [],
    ),
    '  esac',
  ]);
  return `# Completion of heddle for bash.
_heddle() {
  local current=\${COMP_WORDS[COMP_CWORD]} words='' command=''
${choices.join('\n')}
  if [[ $current != -* ]]; then
    case "\${COMP_WORDS[*]:1:COMP_CWORD-1}" in
${next.join('\n')}
    esac
  else
    case "$command" in
${flags.join('\n')}
    esac
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
complete -o default -F _heddle heddle
`;
}

function zsh(commands: readonly ListedCommand[]): string {
  return `#compdef heddle
# Completion of heddle for zsh.
autoload -U +X bashcompinit && bashcompinit
${bash(commands).replace(/^#.*\n/, '')}`;
}

function fish(commands: readonly ListedCommand[]): string {
  const lines = commands.flatMap((command) => {
    const words = command.name.split(' ');
    const flags = command.flags.map(
      ({ name, doc, takesValue }) =>
        `complete -c heddle -n '${seenCondition(words)}' -l ${name}${takesValue === true ? ' -r' : ''} -d ${quoted(doc)}`,
    );
    const last = words.at(-1) ?? '';
    return [
      `complete -c heddle -n '${seenCondition(words.slice(0, -1))}' -a ${last} -d ${quoted(command.summary)}`,
      ...flags,
    ];
  });
  const names = new Set(commands.map(({ name }) => name));
  const groups = [...nextWords(commands)].flatMap(([before, words]) =>
    words.flatMap((word) => {
      const parents = before === '' ? [] : before.split(' ');
      const isCommand = names.has([...parents, word].join(' '));
      return isCommand ? [] : [`complete -c heddle -n '${seenCondition(parents)}' -a ${word}`];
    }),
  );
  return `# Completion of heddle for fish.\n${[...groups, ...lines].join('\n')}\n`;
}

/** Returns the fish condition for these words having been typed. */
function seenCondition(words: readonly string[]): string {
  if (words.length === 0) return '__fish_use_subcommand';
  return words.map((word) => `__fish_seen_subcommand_from ${word}`).join('; and ');
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
