import type { Document, ForeignFile, Place, SourceFile } from '../model/document.ts';
import { type Problem, sortProblems } from '../model/problem.ts';
import { traced } from '../telemetry/span.ts';
import { limits } from './limits.ts';
import type { Position } from './position.ts';
import type { Reader } from './reader.ts';
import type { ReadFor } from './threads/parser.ts';
import { truncate } from './truncate.ts';

/** The documents of some files, what is wrong with them, and a way to say more exactly where later problems stand. */
export interface DocumentInput {
  readonly documents: readonly Document[];
  readonly problems: readonly Problem[];
  /** Files that are none of ours; what is wrong with them as documents is not among the problems. */
  readonly foreign: readonly ForeignFile[];
  /** Gives problems found later their line and column, and a hint where the text itself explains the fault. */
  place(problems: readonly Problem[]): Promise<readonly Problem[]>;
}

/** Reads files for planning. */
export async function readInput(
  reader: Reader,
  files: readonly SourceFile[],
  who: ReadFor = {},
): Promise<DocumentInput> {
  const { documents, problems, foreign } = await traced('validate', { 'heddle.files': files.length }, () =>
    reader.read(files, who),
  );
  return { documents, problems, foreign, place: (later) => placeProblems(later, documents, { reader, files, who }) };
}

interface Placing {
  readonly reader: Reader;
  readonly files: readonly SourceFile[];
  readonly who: ReadFor;
}

/** A problem whose document is known and whose path leads into it. */
interface Placeable {
  readonly problem: Problem;
  readonly place: Place;
  readonly pointer: string;
}

async function placeProblems(
  problems: readonly Problem[],
  documents: readonly Document[],
  { reader, files, who }: Placing,
): Promise<readonly Problem[]> {
  if (problems.length === 0) return problems;
  const places = new Map(documents.flatMap((document) => linesOf(document).map((line) => [line, document.place])));
  const byFile = new Map<string, Placeable[]>();
  for (const problem of problems) {
    const place = places.get(`${problem.file}:${problem.line}`);
    if (place === undefined || problem.path === undefined || problem.column !== undefined) continue;
    const others = byFile.get(place.file) ?? [];
    byFile.set(place.file, others);
    // Documents keep no positions, so their text is parsed again; who has more problems is not helped by all their columns.
    if (others.length < limits.fileProblems) others.push({ problem, place, pointer: problem.path });
  }
  const placed = new Map<Problem, Problem>();
  for (const file of files) {
    const asked = byFile.get(file.path) ?? [];
    if (asked.length === 0) continue;
    const positions = await reader.locate(
      file,
      asked.map(({ place, pointer }) => ({ place, pointer })),
      who,
    );
    for (const [at, { problem }] of asked.entries()) placed.set(problem, placeProblem(problem, positions[at]));
  }
  return sortProblems(problems.map((problem) => placed.get(problem) ?? problem));
}

/** Where problems of a document may stand: at its beginning, or at that of an inline child. */
function linesOf({ place: { file, line }, entryLines = {} }: Document): readonly string[] {
  return [line, ...Object.values(entryLines).flat()].map((number) => `${file}:${number}`);
}

function placeProblem(problem: Problem, position: Position | undefined): Problem {
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
