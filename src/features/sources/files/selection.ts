import { digestOfFile } from '../../../documents/digest.ts';
import {
  fileRulesOf,
  type RuleFiles,
  type SourceGlobs,
  type StatedSourceName,
} from '../../../documents/directory-settings.ts';
import { sha256 } from '../../../lib/node-pure.ts';
import type { SourceFile } from '../../../model/document.ts';
import { InvalidInput } from '../../../model/errors.ts';
import type { Problem } from '../../../model/problem.ts';
import { createFileFilter, type FileRules } from '../../../model/sources/file-rules.ts';
import { isDocumentFile, Unreadable } from './snapshot.ts';

/** Rules by which the files of a source were chosen. */
export interface FileSelection {
  readonly rules: readonly FileRules[];
  /** Problems of the rules. If there are any, nothing that was read may be applied. */
  readonly problems: readonly Problem[];
  /** One sentence for each rule that left something out. */
  readonly notes: readonly string[];
  /** Source that the settings of the directory name. */
  readonly statedSource?: StatedSourceName | undefined;
}

/** Selection without any rules. */
export const everyFile: FileSelection = { rules: [], problems: [], notes: [] };

/** Chooses files while they are listed. */
export interface Selector {
  /** Whether a path, relative to the directory, is left out. Throws `Unreadable`. */
  excludes(relative: string, isDirectory: boolean): boolean;
  /** Returns the rules that were applied, once everything is listed. */
  selection(): FileSelection;
}

/** Maximum number of rules that are named, and of paths that are named for each rule. */
const maxNamed = 5;

/** Creates a selector from the rules in a directory and the globs of the source. */
export function createSelector(files: RuleFiles, globs: SourceGlobs): Selector {
  const { rules, problems, statedSource } = fileRulesOf(files, globs);
  const filter = createFileFilter(rules);
  const start = files.root === '' || files.root.endsWith('/') ? files.root : `${files.root}/`;
  const leftOut = new Map<string, string[]>();
  return {
    excludes(relative, isDirectory) {
      if (rules.length === 0) return false;
      const path = `${start}${relative}`;
      const rule = rethrowAsUnreadable(() => filter.findHidingRuleName(path, isDirectory));
      if (rule === undefined) return false;
      if (isDirectory || isDocumentFile(relative)) {
        const others = leftOut.get(rule) ?? [];
        leftOut.set(rule, others);
        others.push(isDirectory ? `${path}/` : path);
      }
      return true;
    },
    selection: () => ({ rules, problems, notes: notesOf(leftOut), statedSource }),
  };
}

function rethrowAsUnreadable<Value>(work: () => Value): Value {
  try {
    return work();
  } catch (cause) {
    if (!(cause instanceof InvalidInput)) throw cause;
    throw new Unreadable(cause.message, { cause });
  }
}

function notesOf(leftOut: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const rules = [...leftOut].sort(([a], [b]) => (a < b ? -1 : 1));
  const notes = rules
    .slice(0, maxNamed)
    .map(([rule, paths]) => `${rule} leaves out ${describeFirst([...new Set(paths)].sort(), maxNamed)}`);
  const more = rules.length - notes.length;
  return more > 0 ? [...notes, `${more} more rules leave out files`] : notes;
}

/** Returns the first `most` paths as text, and how many more there are. */
export function describeFirst(paths: readonly string[], most: number): string {
  const more = paths.length - most;
  return `${paths.slice(0, most).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** A file, with its path relative to the directory. */
export interface RelativeFile {
  readonly relative: string;
  readonly file: SourceFile;
}

/** Returns the digest of the content of a source: of its files, and of the rules that chose them. */
export function digestOfContent(files: readonly RelativeFile[], { rules }: FileSelection): string {
  const content = files.map(({ file, relative }) => [relative, digestOfFile(file)]);
  // The root is not part of the digest: the location of the directory makes no difference.
  const chosen = rules.map(({ type, patterns }) => [type, patterns]);
  return sha256(JSON.stringify(rules.length === 0 ? content : [chosen, content]));
}
