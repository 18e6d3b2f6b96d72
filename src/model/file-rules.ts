import { type Glob, matchesGlob, type PathStep, parseGlob, type Spend, stepsOfPath } from '../lib/glob.ts';
import { InvalidInput } from './errors.ts';

/** The file at the top of a source that says which of its files are ignored, as `.gitignore` does. */
export const ignoreFile = '.heddleignore';

/** One list of patterns by which files of a source are read or not. Plain data: a push sends it along. */
export interface FileRules {
  /** The directory that they are about, as files are named; empty at the top. */
  readonly root: string;
  /** What matches is left out; with `include`, everything else is. */
  readonly type: 'ignore' | 'exclude' | 'include';
  /** Where they stand, for messages. */
  readonly name: string;
  /** One pattern each; in an ignore file also blank lines and comments. */
  readonly patterns: readonly string[];
}

/** How many patterns a list may have, blank lines and comments counted. */
export const mostPatterns = 1000;

/** So many comparisons all files of a source may take: about a second. Counted, so that the same input always passes or never. */
const mostComparisons = 30_000_000;

/** A rule that hides a file, as messages name it: `config/.heddleignore:3 (legacy/)`. */
export type Hidden = string;

/** Says which files are hidden. Throws `InvalidInput` when the patterns are too costly for so many files. */
export interface FileFilter {
  /** The rule that hides a path below the root, or a directory above it; a directory may be looked into all the same. */
  hides(path: string, isDirectory?: boolean): Hidden | undefined;
}

/** What is wrong with patterns, by their place in the list. */
export function patternFaults(
  type: FileRules['type'],
  patterns: readonly string[],
): readonly { readonly at: number; readonly message: string }[] {
  if (patterns.length > mostPatterns)
    return [
      { at: mostPatterns, message: `there are more than ${mostPatterns} patterns; use fewer, such as directories` },
    ];
  return patterns.flatMap((pattern, at) => {
    const glob = parseGlob(pattern);
    const fault = glob === undefined ? blankFault(type) : 'fault' in glob ? glob.fault : negationFault(type, glob);
    return fault === undefined ? [] : [{ at, message: `the pattern \`${pattern.slice(0, 100)}\` ${fault}` }];
  });
}

function blankFault(type: FileRules['type']): string | undefined {
  return type === 'ignore' ? undefined : 'is blank or a comment; remove it';
}

function negationFault(type: FileRules['type'], { negated }: Glob): string | undefined {
  return type === 'include' && negated ? 'begins with `!`; write it into `exclude`' : undefined;
}

/** Puts lists of rules together; patterns with a fault match nothing. A file that several lists are about must pass them all. */
export function createFileFilter(rules: readonly FileRules[]): FileFilter {
  let left = mostComparisons;
  const names = [...new Set(rules.map(({ name }) => name))].join(', ');
  const spend: Spend = (comparisons) => {
    left -= comparisons;
    if (left < 0)
      throw new InvalidInput(
        `The patterns of ${names} are too many or too complex for so many files; use fewer of them, or several sources.`,
      );
  };
  const lists = rules.map((list) => createList(list, spend));
  return {
    hides(path, isDirectory = false) {
      for (const list of lists) {
        const hidden = list(path, isDirectory);
        if (hidden !== undefined) return hidden;
      }
      return undefined;
    },
  };
}

interface Pattern {
  readonly glob: Glob;
  readonly at: number;
  readonly text: string;
}

type List = (path: string, isDirectory: boolean) => Hidden | undefined;

function createList(rules: FileRules, spend: Spend): List {
  const patterns = rules.patterns.slice(0, mostPatterns).flatMap((text, at): Pattern[] => {
    const glob = parseGlob(text);
    return glob === undefined || 'fault' in glob ? [] : [{ glob, at, text }];
  });
  // The last one decides.
  const backwards = patterns.toReversed();
  const decide = (steps: readonly PathStep[], isDirectory: boolean): Pattern | undefined =>
    backwards.find(({ glob }) => (isDirectory || !glob.directoryOnly) && matchesGlob(glob, steps, spend));
  const directories = new Map<string, Pattern | undefined>();
  /** What is in a directory that matches matches too, whatever later patterns say of it. */
  const find = (steps: readonly PathStep[], isDirectory: boolean): Pattern | undefined => {
    const key = steps.map(({ name }) => name).join('/');
    spend(key.length);
    if (isDirectory && directories.has(key)) return directories.get(key);
    const above = steps.length > 1 ? find(steps.slice(0, -1), true) : undefined;
    const found = above ?? positive(decide(steps, isDirectory));
    if (isDirectory) directories.set(key, found);
    return found;
  };
  return (path, isDirectory) => {
    const below = belowRoot(path, rules.root);
    if (below === undefined) return undefined;
    const found = find(stepsOfPath(below), isDirectory);
    if (rules.type === 'include') return found === undefined && !isDirectory ? rules.name : undefined;
    return found === undefined ? undefined : nameOf(rules, found);
  };
}

function positive(pattern: Pattern | undefined): Pattern | undefined {
  return pattern?.glob.negated === true ? undefined : pattern;
}

function nameOf({ type, name }: FileRules, { at, text }: Pattern): Hidden {
  return type === 'ignore' ? `${name}:${at + 1} (${text.trim()})` : `${name} (${text})`;
}

function belowRoot(path: string, root: string): string | undefined {
  if (root === '') return path;
  const start = root.endsWith('/') ? root : `${root}/`;
  return path.startsWith(start) ? path.slice(start.length) : undefined;
}
