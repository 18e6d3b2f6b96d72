import type { Document, Place, SourceFile } from '../model/document.ts';
import { type Problem, sortProblems } from '../model/problem.ts';
import { createLocator } from './locate.ts';
import type { Reader } from './reader.ts';

/** The documents of some files, what is wrong with them, and a way to say more exactly where later problems stand. */
export interface DocumentInput {
  readonly documents: readonly Document[];
  readonly problems: readonly Problem[];
  /** Gives problems found later their line and column, and a hint where the text itself explains the fault. */
  place(problems: readonly Problem[]): readonly Problem[];
}

/** Reads files for planning. */
export async function readInput(
  reader: Reader,
  files: readonly SourceFile[],
  signal?: AbortSignal,
): Promise<DocumentInput> {
  const { documents, problems } = await reader.read(files, signal);
  return { documents, problems, place: (later) => placeProblems(later, files, documents) };
}

function placeProblems(
  problems: readonly Problem[],
  files: readonly SourceFile[],
  documents: readonly Document[],
): readonly Problem[] {
  if (problems.length === 0) return problems;
  const places = new Map(documents.map(({ place }) => [`${place.file}:${place.line}`, place]));
  const locate = createLocator(files);
  return sortProblems(
    problems.map((problem) => placeProblem(problem, places.get(`${problem.file}:${problem.line}`), locate)),
  );
}

function placeProblem(problem: Problem, place: Place | undefined, locate: ReturnType<typeof createLocator>): Problem {
  if (place === undefined || problem.path === undefined || problem.column !== undefined) return problem;
  const { line, column, source } = locate(place, problem.path);
  const quoted = problem.code === 'type_wrong' && problem.message.includes('must be a string') && source !== undefined;
  return { ...problem, line, column, message: quoted ? `${problem.message}; quote it: "${source}"` : problem.message };
}
