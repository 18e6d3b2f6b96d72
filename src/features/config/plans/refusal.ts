import type { Call } from '../../../commit/engine.ts';
import type { HeddleError } from '../../../model/errors.ts';
import type { Problem } from '../../../model/problem.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import { errorForProblems } from '../../../objects/objects.ts';
import { readableFindings } from '../../../objects/readable-problems.ts';
import type { ApplyRequest } from './apply-request.ts';

type Input = Pick<ApplyRequest, 'documents' | 'problems' | 'foreign'>;

/** Returns the refusal of a request with these problems, as the caller may see it. */
export function refusalFor(state: Snapshot, call: Call, request: Input, problems: readonly Problem[]): HeddleError {
  return errorForProblems(readableRequestFindings(state, call, request, problems));
}

/**
 * Returns the problems or warnings of a request as the caller may see them. The caller wrote the files of the request,
 * and so may see what is found in them whatever the kind. A plan also concerns objects that no file of the request states.
 */
export function readableRequestFindings(
  state: Snapshot,
  call: Call,
  request: Input,
  problems: readonly Problem[],
): readonly Problem[] {
  return readableFindings(state, call, problems, filesOf(request));
}

function filesOf({ documents, problems, foreign = [] }: Input): ReadonlySet<string> {
  return new Set([
    ...documents.map(({ position }) => position.file),
    ...problems.flatMap(({ file }) => (file === undefined ? [] : [file])),
    ...foreign.map(({ file }) => file),
  ]);
}
