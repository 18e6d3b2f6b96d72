import { InvalidInput } from '../model/errors.ts';
import { type Command, defineCommand } from './command.ts';
import { exit } from './exit.ts';
import { flagsOf } from './flags.ts';

const shells = { bash, zsh, fish } as const;

/** The command that prints completion scripts; what it completes are the commands it is given. */
export function completionCommand(commands: () => readonly Command[]): Command {
  return defineCommand({
    name: 'completion',
    summary: 'Print the script by which a shell completes commands and flags.',
    argument: { placeholder: 'SHELL', doc: 'one of bash, zsh, fish', most: 1 },
    flags: {},
    settings: [],
    examples: [
      ['source <(heddle completion bash)', 'For this bash'],
      ['heddle completion fish > ~/.config/fish/completions/heddle.fish', 'For every fish'],
    ],
    async run({ positionals: [shell = ''], terminal }) {
      if (!Object.hasOwn(shells, shell))
        throw new InvalidInput(`\`${shell}\` is not a shell that is known here; choose bash, zsh or fish.`);
      // Just asked.
      terminal.out(shells[shell as keyof typeof shells](commands()));
      return exit.ok;
    },
  });
}

function flagNames(command: Command): readonly string[] {
  return [...Object.keys(flagsOf(command)), 'help'].map((flag) => `--${flag}`);
}

function firstWords(commands: readonly Command[]): readonly string[] {
  return [...new Set(commands.map(({ name }) => name.split(' ')[0] ?? ''))];
}

/** By first word, the second words. */
function secondWords(commands: readonly Command[]): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const { name } of commands) {
    const [first = '', second] = name.split(' ');
    if (second !== undefined) found.set(first, [...(found.get(first) ?? []), second]);
  }
  return found;
}

function bash(commands: readonly Command[]): string {
  const flags = commands.map((command) => `    '${command.name}') words='${flagNames(command).join(' ')}' ;;`);
  const seconds = [...secondWords(commands)].map(([first, words]) => `      ${first}) words='${words.join(' ')}' ;;`);
  return `# Completion of heddle for bash.
_heddle() {
  local current=\${COMP_WORDS[COMP_CWORD]} words=''
  local command=\${COMP_WORDS[1]:-}
  case "\${COMP_WORDS[1]:-} \${COMP_WORDS[2]:-}" in
${commands.flatMap(({ name }) => (name.includes(' ') ? [`    '${name}') command='${name}' ;;`] : [])).join('\n')}
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then
    words='${firstWords(commands).join(' ')}'
  elif [ "$COMP_CWORD" -eq 2 ] && [[ $current != -* ]]; then
    case "\${COMP_WORDS[1]}" in
${seconds.join('\n')}
    esac
  fi
  if [[ $current == -* ]]; then
    case "$command" in
${flags.join('\n')}
    esac
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
complete -o default -F _heddle heddle
`;
}

function zsh(commands: readonly Command[]): string {
  return `#compdef heddle
# Completion of heddle for zsh.
autoload -U +X bashcompinit && bashcompinit
${bash(commands).replace(/^#.*\n/, '')}`;
}

function fish(commands: readonly Command[]): string {
  const lines = commands.flatMap((command) => {
    const [first = '', second] = command.name.split(' ');
    const chosen =
      second === undefined
        ? `__fish_seen_subcommand_from ${first}`
        : `__fish_seen_subcommand_from ${first}; and __fish_seen_subcommand_from ${second}`;
    const word =
      second === undefined
        ? `complete -c heddle -n __fish_use_subcommand -a ${first} -d ${quoted(command.summary)}`
        : `complete -c heddle -n '__fish_seen_subcommand_from ${first}' -a ${second} -d ${quoted(command.summary)}`;
    const flags = Object.entries(flagsOf(command)).map(
      ([name, flag]) =>
        `complete -c heddle -n '${chosen}' -l ${name}${flag.placeholder === undefined ? '' : ' -r'} -d ${quoted(flag.doc)}`,
    );
    return [word, ...flags];
  });
  const groups = [...secondWords(commands).keys()].map(
    (first) => `complete -c heddle -n __fish_use_subcommand -a ${first}`,
  );
  return `# Completion of heddle for fish.\n${[...groups, ...lines].join('\n')}\n`;
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
