import { nearest } from '../../lib/nearest.ts';
import type { ForeignFile } from '../../model/document.ts';
import type { Problem } from '../../model/problem.ts';
import type { StoredObject } from '../../model/state/object.ts';

/** What is asked about the files of a source that are none of ours. */
export interface ForeignFilesInput {
  readonly foreign: readonly ForeignFile[];
  readonly source: string;
  /** All names of kinds. */
  readonly kinds: readonly string[];
  /** Such files are refused, all of them. */
  readonly strict: boolean;
  /** The objects that the source states. */
  stated(): readonly StoredObject[];
}

/**
 * Files of others beside documents are ignored with a note. One that has stated an object is not, or that object would be
 * deleted by a slip; nor is one that names a kind which is nearly ours.
 */
export function judgeForeign(input: ForeignFilesInput): {
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
} {
  if (input.foreign.length === 0) return { problems: [], warnings: [] };
  const problems: Problem[] = [];
  const warnings: Problem[] = [];
  const stated = statedIn(input);
  for (const one of input.foreign) {
    const object = stated.get(one.file);
    const isNear = one.kinds.some((kind) => nearest(kind, input.kinds) !== undefined);
    if (object !== undefined) problems.push(replaced(one, object), ...one.problems);
    else if (input.strict || isNear) problems.push(...one.problems);
    else warnings.push(ignored(one));
  }
  return { problems, warnings };
}

/** An object that each file states. */
function statedIn({ source, stated }: ForeignFilesInput): ReadonlyMap<string, StoredObject> {
  return new Map(
    stated().flatMap((object) =>
      object.declared.filter((by) => by.source === source).map(({ file }) => [file, object] as const),
    ),
  );
}

function replaced({ file, holds }: ForeignFile, { kind, key, name }: StoredObject): Problem {
  const message = `${file} has stated ${kind} ${key ?? name} until now and holds ${holds}; put its documents back, or remove the file to delete what it stated`;
  return { code: 'file_foreign', kind, key: key ?? name, message, file, line: 1 };
}

function ignored({ file, holds }: ForeignFile): Problem {
  const message = `${file} is ignored, because it holds ${holds} and no document of ours; --strict-files (strictFiles of a source) refuses such files`;
  return { code: 'file_ignored', message, file, line: 1 };
}
