import { digestOfFile } from '../../../documents/digest.ts';
import { fileRulesOf, type RuleFiles, type StatedGlobs } from '../../../documents/directory-settings.ts';
import { sha256 } from '../../../lib/node-pure.ts';
import type { SourceFile } from '../../../model/document.ts';
import { InvalidInput } from '../../../model/errors.ts';
import type { Problem } from '../../../model/problem.ts';
import { createFileFilter, type FileRules } from '../../../model/sources/file-rules.ts';
import { isDocumentFile, Unreadable } from './snapshot.ts';

/** By which rules the files of a source were chosen. */
export interface FileSelection {
  readonly rules: readonly FileRules[];
  /** What is wrong with the rules; then nothing that was read may be applied. */
  readonly problems: readonly Problem[];
  /** What is left out, a sentence for each rule. */
  readonly notes: readonly string[];
}

/** No rules at all. */
export const everyFile: FileSelection = { rules: [], problems: [], notes: [] };

/** Chooses files while they are listed. */
export interface Selector {
  /** Whether a path, relative to the directory, is left out. Throws `Unreadable`. */
  leavesOut(relative: string, isDirectory: boolean): boolean;
  /** What was chosen by, once everything is listed. */
  selection(): FileSelection;
}

/** So many rules, and paths of each of them, are named. */
const mostNamed = 5;

/** The rules of a directory, and a way to choose its files by them. */
export function createSelector(files: RuleFiles, globs: StatedGlobs): Selector {
  const { rules, problems } = fileRulesOf(files, globs);
  const filter = createFileFilter(rules);
  const start = files.root === '' || files.root.endsWith('/') ? files.root : `${files.root}/`;
  const leftOut = new Map<string, string[]>();
  return {
    leavesOut(relative, isDirectory) {
      if (rules.length === 0) return false;
      const path = `${start}${relative}`;
      const rule = orUnreadable(() => filter.hides(path, isDirectory));
      if (rule === undefined) return false;
      if (isDirectory || isDocumentFile(relative)) {
        const others = leftOut.get(rule) ?? [];
        leftOut.set(rule, others);
        others.push(isDirectory ? `${path}/` : path);
      }
      return true;
    },
    selection: () => ({ rules, problems, notes: notesOf(leftOut) }),
  };
}

function orUnreadable<Value>(work: () => Value): Value {
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
    .slice(0, mostNamed)
    .map(([rule, paths]) => `${rule} leaves out ${nameSome([...new Set(paths)].sort(), mostNamed)}`);
  const more = rules.length - notes.length;
  return more > 0 ? [...notes, `${more} more rules leave out files`] : notes;
}

/** The first of some paths, and how many more there are. */
export function nameSome(paths: readonly string[], most: number): string {
  const more = paths.length - most;
  return `${paths.slice(0, most).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** A file, with its path relative to the directory. */
export interface ReadFile {
  readonly relative: string;
  readonly file: SourceFile;
}

/** The digest of what a source holds: of its files, and of the rules by which they were chosen. */
export function digestOfContent(files: readonly ReadFile[], { rules }: FileSelection): string {
  const content = files.map(({ file, relative }) => [relative, digestOfFile(file)]);
  // The root is no part of it: where the directory is makes no difference.
  const chosen = rules.map(({ type, patterns }) => [type, patterns]);
  return sha256(JSON.stringify(rules.length === 0 ? content : [chosen, content]));
}
