import type { Document, DocumentPosition, ForeignFile, SourceFile } from '../model/document.ts';
import { type Problem, sortProblems } from '../model/problem.ts';
import { traced } from '../telemetry/span.ts';
import { limits } from './limits.ts';
import type { Position } from './position.ts';
import type { Reader } from './reader.ts';
import type { ReadCaller } from './threads/parser.ts';
import { truncate } from './truncate.ts';

/** Documents of some files, their problems, and a function that locates later problems more exactly. */
export interface DocumentInput {
  readonly documents: readonly Document[];
  readonly problems: readonly Problem[];
  /** Files without Heddle documents. Their problems as documents are not part of `problems`. */
  readonly foreign: readonly ForeignFile[];
  /** Adds line and column to problems that were found later, and a hint when the text itself explains the fault. */
  locate(problems: readonly Problem[]): Promise<readonly Problem[]>;
}

/** Reads and validates files for planning. */
export async function readInput(
  reader: Reader,
  files: readonly SourceFile[],
  who: ReadCaller = {},
): Promise<DocumentInput> {
  const { documents, problems, foreign } = await traced('validate', { 'heddle.files': files.length }, () =>
    reader.read(files, who),
  );
  return { documents, problems, foreign, locate: (later) => locateProblems(later, documents, { reader, files, who }) };
}

interface LocatingContext {
  readonly reader: Reader;
  readonly files: readonly SourceFile[];
  readonly who: ReadCaller;
}

/** A problem with the position of its document, and with its JSON pointer in that document. */
interface ProblemToLocate {
  readonly problem: Problem;
  readonly position: DocumentPosition;
  readonly pointer: string;
}

async function locateProblems(
  problems: readonly Problem[],
  documents: readonly Document[],
  { reader, files, who }: LocatingContext,
): Promise<readonly Problem[]> {
  if (problems.length === 0) return problems;
  const positionsByLine = new Map(
    documents.flatMap((document) => linesOf(document).map((line) => [line, document.position])),
  );
  const byFile = new Map<string, ProblemToLocate[]>();
  for (const problem of problems) {
    const position = positionsByLine.get(`${problem.file}:${problem.line}`);
    if (position === undefined || problem.path === undefined || problem.column !== undefined) continue;
    const others = byFile.get(position.file) ?? [];
    byFile.set(position.file, others);
    // Documents keep no positions, so their text is parsed again. Columns for more problems than this would not help
    // the user.
    if (others.length < limits.fileProblems) others.push({ problem, position, pointer: problem.path });
  }
  const located = new Map<Problem, Problem>();
  for (const file of files) {
    const asked = byFile.get(file.path) ?? [];
    if (asked.length === 0) continue;
    const positions = await reader.locate(
      file,
      asked.map(({ position, pointer }) => ({ position, pointer })),
      who,
    );
    for (const [at, { problem }] of asked.entries()) located.set(problem, withLineAndColumn(problem, positions[at]));
  }
  return sortProblems(problems.map((problem) => located.get(problem) ?? problem));
}

/**
 * Returns the lines (`file:line`) at which problems of a document may be reported: its first line, and the first line
 * of each inline child.
 */
function linesOf({ position: { file, line }, entryLines = {} }: Document): readonly string[] {
  return [line, ...Object.values(entryLines).flat()].map((number) => `${file}:${number}`);
}

function withLineAndColumn(problem: Problem, position: Position | undefined): Problem {
  if (position === undefined) return problem;
  const { line, column, source } = position;
  const quoted = problem.code === 'type_wrong' && problem.message.includes('must be a string') && source !== undefined;
  return {
    ...problem,
    line,
    column,
    message: quoted ? `${problem.message}; quote it: "${truncate(source)}"` : problem.message,
  };
}
