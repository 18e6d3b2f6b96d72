import { nearest } from '../../lib/nearest.ts';
import type { ForeignFile } from '../../model/document.ts';
import type { Problem } from '../../model/problem.ts';
import type { StoredObject } from '../../model/state/object.ts';

/** Input for judging files of a source that contain objects of other systems. */
export interface ForeignFilesInput {
  readonly foreign: readonly ForeignFile[];
  readonly source: string;
  /** Names of all kinds. */
  readonly kinds: readonly string[];
  /** Whether all foreign files are refused. */
  readonly strict: boolean;
  /** Returns the objects that the source states. */
  stated(): readonly StoredObject[];
}

/**
 * Sorts foreign files, and foreign objects in files with documents, into problems and warnings. They are ignored with a
 * warning, except in two cases. A file that has stated an object until now is a problem, because the object would be
 * deleted by accident. So is a file with a kind that is equal or similar to one of Heddle's.
 */
export function checkForeignFiles(input: ForeignFilesInput): {
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
} {
  if (input.foreign.length === 0) return { problems: [], warnings: [] };
  const problems: Problem[] = [];
  const warnings: Problem[] = [];
  const stated = statedByFile(input);
  for (const one of input.foreign) {
    const object = findReplacedObject(one, stated.get(one.file) ?? []);
    const isNear = one.kinds.some((kind) => input.kinds.includes(kind) || nearest(kind, input.kinds) !== undefined);
    if (object !== undefined) problems.push(replacedProblem(one, object), ...one.problems);
    else if (input.strict || isNear) problems.push(...one.problems);
    else warnings.push(ignoredWarning(one));
  }
  return { problems, warnings };
}

function statedByFile({ source, stated }: ForeignFilesInput): ReadonlyMap<string, readonly StoredObject[]> {
  const byFile = new Map<string, StoredObject[]>();
  for (const object of stated())
    for (const by of object.declared) {
      if (by.source !== source) continue;
      const others = byFile.get(by.file);
      if (others === undefined) byFile.set(by.file, [object]);
      else others.push(object);
    }
  return byFile;
}

/**
 * Returns an object that the file stated until now, and that its foreign content replaces; `undefined` when there is
 * none.
 */
function findReplacedObject({ objects }: ForeignFile, stated: readonly StoredObject[]): StoredObject | undefined {
  if (objects === undefined) return stated[0];
  return stated.find(({ kind, key }) => objects.some((one) => one.kind === kind && one.name === key));
}

function replacedProblem({ file, holds }: ForeignFile, { kind, key, name }: StoredObject): Problem {
  const message = `${file} stated ${kind} ${key ?? name} until now and contains ${holds}; restore its documents, or remove the file to delete what it stated`;
  return { code: 'file_foreign', kind, key: key ?? name, message, file, line: 1 };
}

function ignoredWarning({ file, holds, objects }: ForeignFile): Problem {
  const strict = '--strict-files (strictFiles of a source)';
  if (objects === undefined) {
    const message = `${file} is ignored, because it contains ${holds} and no Heddle document; ${strict} refuses such files`;
    return { code: 'file_ignored', message, file, line: 1 };
  }
  const message = `${file} contains ${holds} in addition to Heddle documents; that part is ignored, and ${strict} refuses it`;
  return { code: 'file_ignored', message, file, line: objects[0]?.line ?? 1 };
}
