import { renamesOf } from '../../documents/format/edits.ts';
import { type FormatResult, formatFile } from '../../documents/format/format.ts';
import type { IsApplied } from '../../documents/format/previous-names.ts';
import { readFile } from '../../documents/read.ts';
import * as kinds from '../../kinds/index.ts';
import { lineDiff } from '../../lib/line-diff.ts';
import { formatNumber } from '../../lib/number-text.ts';
import { printable } from '../../lib/text/printable.ts';
import { createRegistry } from '../../model/declare/registry.ts';
import type { SourceFile } from '../../model/document.ts';
import type { Problem } from '../../model/problem.ts';
import { call, clientSettings, connect } from '../client.ts';
import { defineCommand } from '../command.ts';
import { exit, exitCodeOfProblems } from '../exit.ts';
import { collectFiles, pathArgument } from '../plan/files.ts';
import { count, renderProblems } from '../terminal/problems.ts';
import { withProgress } from '../terminal/progress.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { replaceFile } from '../write-file.ts';

export const fmt = defineCommand({
  name: 'fmt',
  summary: 'Write documents in their canonical form.',
  details: `Works offline, except for --drop-previous-names. Members are written in the order in which their kind declares them (\`heddle explain\` lists it), indented by two spaces. A list or map in brackets on one line of at most 120 characters stays there, every other one is written in block style. Single quotes become double quotes, unless the text then needs escapes. The meaning of the documents does not change, and comments stay with their members. Documents with wrong fields are formatted too; files that cannot be read as documents, such as invalid YAML, and files of other programs are not changed. Documents from standard input are written to standard output.`,
  argument: {
    placeholder: '[PATH…]',
    doc: `${pathArgument.doc} (default: the current directory)`,
    least: 0,
  },
  flags: {
    check: { doc: 'Write nothing, list the files that are not canonical, and exit with 2 if there are any.' },
    diff: { doc: 'Write nothing, and show what would change.' },
    fix: {
      doc: 'Also replace former names of fields, misspelt names and words with only one possible correction, and references to keys that documents list in `previousNames`.',
    },
    'drop-previous-names': {
      doc: 'Also ask the server which renames were applied, and remove these names from `previousNames`, with the comments on their lines.',
    },
  },
  settings: clientSettings,
  examples: [
    ['heddle fmt config', 'Write all documents of a directory in canonical form'],
    ['heddle fmt --check config', 'Fail a pipeline with 2 when some documents are not canonical'],
    ['heddle fmt --fix --diff config', 'Show what would be renamed'],
    ['heddle fmt --fix --drop-previous-names config', 'Clean up after a rename that was applied'],
  ],
  async run({ flags, positionals, config, terminal }) {
    // Runs before any file is read, because it fails when the user is not signed in.
    const isApplied = flags['drop-previous-names'] === true ? await createRenameCheck(config, terminal) : undefined;
    const unreadable: Problem[] = [];
    const paths = positionals.length === 0 ? ['.'] : positionals;
    const { files } = await collectFiles(paths, terminal, (problem) => unreadable.push(problem));
    const formatted = await withProgress(terminal, `formatting ${count(files.length, 'file')}`, async () =>
      formatAll(files, { fix: flags['fix'] === true, isApplied }),
    );
    const options = { check: flags['check'] === true, diff: flags['diff'] === true };
    const changed: Changed[] = [];
    const problems = [...unreadable];
    for (const [file, result] of formatted) {
      if (result.type === 'problems') problems.push(...result.problems);
      else if (result.type === 'kept') terminal.note(keptText(terminal, file, result.reason));
      else if (file.path === '-' && !options.check && !options.diff)
        terminal.out(result.type === 'formatted' ? result.text : file.text);
      else if (result.type === 'formatted' && result.text !== file.text) changed.push({ file, text: result.text });
    }
    for (const change of changed) await writeOrShow(terminal, change, options);
    return report(terminal, { formatted, changed, problems, options });
  },
});

interface Changed {
  readonly file: SourceFile;
  readonly text: string;
}

interface Options {
  readonly check: boolean;
  readonly diff: boolean;
}

type Results = readonly (readonly [SourceFile, FormatResult])[];

/** What `fmt` changes in addition to the form of documents. */
interface FixOptions {
  readonly fix: boolean;
  readonly isApplied: IsApplied | undefined;
}

function formatAll(files: readonly SourceFile[], { fix, isApplied }: FixOptions): Results {
  const registry = createRegistry(Object.values(kinds));
  const options = {
    registry,
    ...(fix ? { fix: renamesOf(files.flatMap((file) => readFile(file).documents)) } : {}),
    ...(isApplied === undefined ? {} : { isApplied }),
  };
  return files.map((file) => [file, formatFile(file, options)]);
}

/**
 * Returns a check for renames that the account has recorded. The previous name is needed until then, because the plan
 * that renames the object reads it.
 */
async function createRenameCheck(config: Parameters<typeof connect>[0], terminal: Terminal): Promise<IsApplied> {
  // Imported on demand: everything else works offline.
  const { objects: operations } = await import('../../operations/config/objects.ts');
  const client = await connect(config);
  const { objects } = await withProgress(terminal, 'asking which renames were applied', () =>
    call(client, operations.list),
  );
  const known = new Set(
    objects.flatMap(({ kind, key, previousKeys = [] }) => previousKeys.map((former) => `${kind}/${key}/${former}`)),
  );
  return (kind, key, former) => known.has(`${kind}/${key}/${former}`);
}

/** Writes a file, or shows what would be written. */
async function writeOrShow(terminal: Terminal, { file, text }: Changed, { check, diff }: Options): Promise<void> {
  const path = printable(file.path);
  if (diff) terminal.out(`--- ${path}\n+++ ${path}\n${painted(terminal, lineDiff(file.text, text))}`);
  else if (check) terminal.out(`${path}\n`);
  else {
    await replaceFile(file.path, file.text, text);
    terminal.out(`wrote ${path}\n`);
  }
}

function painted({ paint }: Terminal, diff: string): string {
  const styles = { '-': 'removed', '+': 'added', '@': 'faint' } as const;
  const lines = diff.split('\n').map((line) => {
    const [sign = ''] = line;
    const text = printable(line);
    return sign === '-' || sign === '+' || sign === '@' ? paint(styles[sign], text) : text;
  });
  return lines.join('\n');
}

function keptText({ notePaint }: Terminal, { path }: SourceFile, reason: string): string {
  return `${notePaint('warning', 'warning:')} ${printable(path)} is not changed: ${reason}.\n`;
}

interface Outcome {
  readonly formatted: Results;
  readonly changed: readonly Changed[];
  readonly problems: readonly Problem[];
  readonly options: Options;
}

/** Prints a summary, and returns the exit code. */
function report(terminal: Terminal, { formatted, changed, problems, options }: Outcome): number {
  const held = formatted.filter(([, { type }]) => type === 'formatted').length;
  const isPiped = formatted.length === 1 && formatted[0]?.[0].path === '-';
  if (problems.length > 0) terminal.note(renderProblems(problems, terminal.notePaint));
  else if (!isPiped) terminal.note(summary(changed.length, held, options));
  // A file that cannot be read does not mean that documents are invalid.
  const reported = problems.filter(({ code }) => code !== 'file_unreadable');
  if (reported.length > 0) return exitCodeOfProblems(reported);
  if (problems.length > 0) return exit.error;
  return options.check && changed.length > 0 ? exit.changes : exit.ok;
}

function summary(changed: number, held: number, { check, diff }: Options): string {
  const are = (number: number) => `${count(number, 'file')} ${number === 1 ? 'is' : 'are'}`;
  if (changed === 0) return `${are(held)} canonical.\n`;
  if (check || diff)
    return `${are(changed)} not canonical, of ${formatNumber(held)}; \`heddle fmt\` writes the canonical form.\n`;
  return `${count(changed, 'file')} written, of ${formatNumber(held)}.\n`;
}
