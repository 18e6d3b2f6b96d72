import { defineCommand } from './command.ts';
import { exit, exitCodeOfProblems } from './exit.ts';
import { writeJson } from './failure.ts';
import { collectFiles, pathArgument } from './files.ts';
import { jsonFlag } from './flags.ts';
import { count, renderProblems, renderWarnings } from './problems.ts';
import { withProgress } from './progress.ts';
import { valueSettings } from './values.ts';

export const validate = defineCommand({
  name: 'validate',
  summary: 'Check documents without a server and tell every problem at once.',
  details:
    'Checks what can be known from the documents alone. What they refer to and do not state is a warning: it may exist on the server, which `heddle plan` asks.',
  argument: pathArgument,
  flags: jsonFlag,
  settings: valueSettings,
  examples: [
    ['heddle validate examples/quickstart', 'Check a directory'],
    ['heddle validate - < policies.yaml', 'Check standard input'],
  ],
  async run({ flags, positionals, config, terminal }) {
    const files = await collectFiles(positionals, terminal);
    // Loaded here: the other commands leave the checking to the server.
    const { checkOffline } = await import('./offline.ts');
    const what = `checking ${count(files.length, 'file')}`;
    const { documents, problems, warnings, unchecked, unset } = await withProgress(terminal, what, () =>
      checkOffline(files, config),
    );
    const code = problems.length === 0 ? exit.ok : exitCodeOfProblems(problems);
    if (flags['json'] === true) {
      const valid = problems.length === 0;
      writeJson(terminal, {
        formatVersion: '1.0',
        valid,
        documents,
        files: files.length,
        unchecked,
        unset,
        problems,
        warnings,
      });
      return code;
    }
    const { paint } = terminal;
    if (warnings.length > 0) terminal.out(renderWarnings(warnings, paint));
    if (problems.length > 0) {
      terminal.out(renderProblems(problems, paint));
      return code;
    }
    const verb = documents === 1 ? 'is' : 'are';
    terminal.out(
      `${paint('added', `${count(documents, 'document')} in ${count(files.length, 'file')} ${verb} valid.`)}${uncheckedText(unchecked)}${unsetText(unset)}\n`,
    );
    return code;
  },
});

function uncheckedText(unchecked: number): string {
  if (unchecked === 0) return '';
  return ` ${count(unchecked, 'reference')} to what documents never make (such as peers) can only be checked by a server.`;
}

/** How many names a line holds. */
const mostNames = 5;

function unsetText(unset: readonly string[]): string {
  if (unset.length === 0) return '';
  const names = unset.length > mostNames ? [...unset.slice(0, mostNames), '…'] : unset;
  const [are, them] = unset.length === 1 ? ['is', 'it'] : ['are', 'them'];
  return ` ${count(unset.length, 'value')} that they name ${are} not set here (${names.join(', ')}); whoever applies them needs ${them}.`;
}
