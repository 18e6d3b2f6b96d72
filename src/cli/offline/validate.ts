import type { Problem } from '../../model/problem.ts';
import { defineCommand } from '../command.ts';
import { exit, exitCodeOfProblems } from '../exit.ts';
import { writeJson } from '../failure.ts';
import { jsonFlag, strictFlag } from '../flags.ts';
import { type Format, formatFlag, formatOf } from '../formats.ts';
import { collectFiles, pathArgument } from '../plan/files.ts';
import type { Paint } from '../terminal/paint.ts';
import { count, renderProblems, renderWarnings } from '../terminal/problems.ts';
import { withProgress } from '../terminal/progress.ts';
import type { OfflineResult } from './offline.ts';
import { valueSettings } from './values.ts';

export const validate = defineCommand({
  name: 'validate',
  summary: 'Check documents without a server and report every problem at once.',
  details:
    'Checks everything that depends on the documents alone. A reference to an object that the documents do not state is a warning: the object may exist on the server, which `heddle plan` checks.',
  argument: pathArgument,
  flags: { ...strictFlag, ...formatFlag, ...jsonFlag },
  settings: valueSettings,
  examples: [
    ['heddle validate examples/quickstart', 'Check a directory'],
    ['heddle validate - < policies.yaml', 'Check standard input'],
    ['heddle validate config --format github', 'Show problems next to the lines of a pull request'],
  ],
  async run({ flags, positionals, config, terminal }) {
    const format = formatOf(flags);
    const before = new Map<string, Problem>();
    const { files } = await collectFiles(positionals, terminal, (problem) =>
      before.set(`${problem.file}:${problem.line}:${problem.path}`, problem),
    );
    // Imported on demand: the other commands leave the check to the server.
    const { checkOffline } = await import('./offline.ts');
    const what = `checking ${count(files.length, 'file')}`;
    const { documents, warnings, unchecked, unset, ...checked } = await withProgress(terminal, what, () =>
      checkOffline(files, config, flags['strict-files'] === true),
    );
    const problems = [...before.values(), ...checked.problems];
    const valid = problems.length === 0;
    // A file that cannot be read does not mean that documents are invalid.
    const reported = problems.filter(({ code }) => code !== 'file_unreadable');
    const failed = reported.length === 0 ? exit.error : exitCodeOfProblems(reported);
    const code = valid ? exit.ok : failed;
    const result = {
      formatVersion: '1.0',
      valid,
      documents,
      files: files.length,
      unchecked,
      unset,
      problems,
      warnings,
    };
    if (flags['json'] === true) writeJson(terminal, result);
    else if (format !== undefined) terminal.out(await formatResult(format, result));
    else terminal.out(renderResult(result, terminal.paint));
    return code;
  },
});

interface Result extends OfflineResult {
  readonly files: number;
}

async function formatResult(format: Format, result: Result): Promise<string> {
  // Imported on demand, because it depends on all of the plan code.
  const { formatFailure, formatValid } = await import('../render/formats.ts');
  const { problems, warnings } = result;
  if (problems.length > 0) return formatFailure(format, '', problems, warnings);
  return formatValid(format, validText(result), warnings);
}

function renderResult(result: Result, paint: Paint): string {
  const { problems, warnings, unchecked, unset } = result;
  const warned = warnings.length > 0 ? renderWarnings(warnings, paint) : '';
  if (problems.length > 0) return `${warned}${renderProblems(problems, paint)}`;
  return `${warned}${paint('added', validText(result))}${uncheckedText(unchecked)}${unsetText(unset)}\n`;
}

function validText({ documents, files }: Result): string {
  return `${count(documents, 'document')} in ${count(files, 'file')} ${documents === 1 ? 'is' : 'are'} valid.`;
}

function uncheckedText(unchecked: number): string {
  if (unchecked === 0) return '';
  return ` ${count(unchecked, 'reference')} to objects that documents never create (such as peers) can only be checked by a server.`;
}

/** Maximum number of names in a line. */
const maxNames = 5;

function unsetText(unset: readonly string[]): string {
  if (unset.length === 0) return '';
  const names = unset.length > maxNames ? [...unset.slice(0, maxNames), '…'] : unset;
  const [are, them] = unset.length === 1 ? ['is', 'it'] : ['are', 'them'];
  return ` ${count(unset.length, 'value')} that the documents use ${are} not set here (${names.join(', ')}); applying them needs ${them}.`;
}
