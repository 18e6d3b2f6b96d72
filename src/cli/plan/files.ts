import { resolve } from 'node:path';
import { readDirectoryFiles } from '../../features/sources/directory/read-directory.ts';
import type { SourceFile } from '../../model/document.ts';
import { InvalidInput, Unavailable } from '../../model/errors.ts';
import type { Problem } from '../../model/problem.ts';
import type { FileRules } from '../../model/sources/file-rules.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { parsePlanFile } from './plan-file.ts';

/** Argument of commands that take documents. */
export const pathArgument = {
  placeholder: 'PATH…',
  doc: 'files or directories of YAML or JSON documents, or - for standard input',
};

/** Files of a command line, and the rules by which the files of directories were selected. */
export interface Collected {
  readonly files: readonly SourceFile[];
  readonly rules: readonly FileRules[];
}

/** Called with problems of files that are found before their documents are read. */
type OnProblem = (problem: Problem) => void;

/**
 * Reads the files of all paths, each file once. Of a directory, reads everything below it that its rules do not
 * exclude. Throws at the first file that cannot be read, unless `onProblem` is given, which is then called for each
 * one.
 */
export async function collectFiles(
  paths: readonly string[],
  terminal: Terminal,
  onProblem?: OnProblem,
): Promise<Collected> {
  const files = new Map<string, SourceFile>();
  const rules: FileRules[] = [];
  let unreadable = 0;
  const noting: OnProblem | undefined =
    onProblem &&
    ((problem) => {
      unreadable += 1;
      onProblem(problem);
    });
  for (const path of new Set(paths)) {
    const read = path === '-' ? await readInput(terminal) : await readPath(path, terminal, noting);
    const found = read.files;
    rules.push(...read.rules);
    if (found.length === 0 && unreadable === 0) terminal.note(`"${path}" holds no .yaml, .yml or .json file.\n`);
    for (const file of found) {
      refusePlan(file);
      const id = file.path === '-' ? '-' : resolve(file.path);
      if (!files.has(id)) files.set(id, file);
    }
  }
  return { files: [...files.values()], rules };
}

/** Throws `InvalidInput` for a plan file, which can be applied but does not contain documents. */
function refusePlan({ path, text }: SourceFile): void {
  if (parsePlanFile(path, text) === undefined) return;
  throw new InvalidInput(
    `${path} contains a plan and no documents; apply it separately with \`heddle apply ${path}\`, and keep plans apart from documents.`,
  );
}

async function readInput(terminal: Terminal): Promise<Collected> {
  return { files: [{ path: '-', text: await terminal.readInput() }], rules: [] };
}

async function readPath(path: string, terminal: Terminal, onProblem?: OnProblem): Promise<Collected> {
  const onUnreadable =
    onProblem && ((file: string, message: string) => onProblem({ code: 'file_unreadable', file, message }));
  const snapshot = await readDirectoryFiles(path, onUnreadable === undefined ? {} : { onUnreadable });
  if (!snapshot.ok) throw new Unavailable(snapshot.reason);
  const { rules, problems, notes } = snapshot.selection;
  const [first] = problems;
  if (first !== undefined && onProblem === undefined)
    throw new InvalidInput(`${first.file}:${first.line}: ${first.message}`, { problems });
  for (const problem of problems) onProblem?.(problem);
  for (const text of [...snapshot.warnings, ...notes]) terminal.note(`${text}\n`);
  return { files: snapshot.files, rules };
}
