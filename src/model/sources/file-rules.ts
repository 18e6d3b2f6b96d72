import { type Glob, matchesGlob, type PathStep, parseGlob, type Spend, stepsOfPath } from '../../lib/glob.ts';
import { normalizePath, pathBelow } from '../../lib/path.ts';
import { runToEnd } from '../../lib/steps.ts';
import { InvalidInput } from '../errors.ts';

/** The file at the top of a source that says which of its files are ignored, as `.gitignore` does. */
export const ignoreFile = '.heddleignore';

/** What a list of patterns does: `ignore` and `exclude` leave out what matches, `include` everything else. */
export const fileRuleTypes = ['ignore', 'exclude', 'include'] as const;

/** One list of patterns by which files of a source are read or not. Plain data: a push sends it along. */
export interface FileRules {
  /** The directory that they are about, as files are named; empty at the top. */
  readonly root: string;
  /** What matches is left out; with `include`, everything else is. */
  readonly type: (typeof fileRuleTypes)[number];
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

/** So many of them are made at once: some milliseconds. */
const comparisonsAtOnce = 100_000;

/** Says which files are hidden. Throws `InvalidInput` when the patterns are too costly for so many files. */
export interface FileFilter {
  /** The rule that hides a path below the root, or a directory above it; a directory may be looked into all the same. */
  hides(path: string, isDirectory?: boolean): Hidden | undefined;
  /** The same with where it counts, yielding now and then. */
  hidesInSteps(path: string, isDirectory?: boolean): Generator<undefined, Hiding | undefined>;
}

/** A rule that hides a file. */
export interface Hiding {
  readonly rule: Hidden;
  /** The directory that the rule is about, normalized. */
  readonly root: string;
  /** The path below it. */
  readonly below: string;
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
  return runToEnd(createFileFilterInSteps(rules));
}

/** The same, yielding now and then. */
export function* createFileFilterInSteps(rules: readonly FileRules[]): Generator<undefined, FileFilter> {
  const budget = createBudget(rules);
  const lists: List[] = [];
  for (const one of rules) {
    yield undefined;
    lists.push(createList(one, budget));
  }
  function* hidesInSteps(path: string, isDirectory = false): Generator<undefined, Hiding | undefined> {
    const normal = normalizePath(path);
    for (const list of lists) {
      const hidden = yield* list(normal, isDirectory);
      if (hidden !== undefined) return hidden;
    }
    return undefined;
  }
  return { hidesInSteps, hides: (path, isDirectory) => runToEnd(hidesInSteps(path, isDirectory))?.rule };
}

/** Counts comparisons. */
interface Budget {
  readonly spend: Spend;
  /** Whether so many were made since this last held that others are to be let in between. */
  isTurn(): boolean;
}

function createBudget(rules: readonly FileRules[]): Budget {
  let left = mostComparisons;
  let turn = left - comparisonsAtOnce;
  return {
    spend(comparisons) {
      left -= comparisons;
      if (left >= 0) return;
      const names = [...new Set(rules.map(({ name }) => name))].join(', ');
      throw new InvalidInput(
        `The patterns of ${names} are too many or too complex for so many files; use fewer of them, or several sources.`,
      );
    },
    isTurn() {
      if (left > turn) return false;
      turn = left - comparisonsAtOnce;
      return true;
    },
  };
}

interface Pattern {
  readonly glob: Glob;
  readonly at: number;
  readonly text: string;
}

type List = (path: string, isDirectory: boolean) => Generator<undefined, Hiding | undefined>;

function createList(rules: FileRules, { spend, isTurn }: Budget): List {
  const patterns = rules.patterns.slice(0, mostPatterns).flatMap((text, at): Pattern[] => {
    const glob = parseGlob(text);
    return glob === undefined || 'fault' in glob ? [] : [{ glob, at, text }];
  });
  // The last one decides.
  const backwards = patterns.toReversed();
  function* decide(steps: readonly PathStep[], isDirectory: boolean): Generator<undefined, Pattern | undefined> {
    for (const pattern of backwards) {
      if (isTurn()) yield undefined;
      const { glob } = pattern;
      if ((isDirectory || !glob.directoryOnly) && matchesGlob(glob, steps, spend)) return pattern;
    }
    return undefined;
  }
  const directories = new Map<string, Pattern | undefined>();
  /** What is in a directory that matches matches too, whatever later patterns say of it. */
  function* find(steps: readonly PathStep[]): Generator<undefined, Pattern | undefined> {
    let found: Pattern | undefined;
    let key = '';
    for (let depth = 1; depth < steps.length && found === undefined; depth += 1) {
      key += `/${steps[depth - 1]?.name}`;
      spend(key.length);
      if (!directories.has(key)) directories.set(key, positive(yield* decide(steps.slice(0, depth), true)));
      found = directories.get(key);
    }
    return found;
  }
  const root = normalizePath(rules.root);
  return function* (path, isDirectory) {
    const below = pathBelow(root, path);
    if (below === undefined) return undefined;
    const steps = stepsOfPath(below);
    const found = (yield* find(steps)) ?? positive(yield* decide(steps, isDirectory));
    const rule = hiddenBy(rules, found, isDirectory);
    return rule === undefined ? undefined : { rule, root, below };
  };
}

function positive(pattern: Pattern | undefined): Pattern | undefined {
  return pattern?.glob.negated === true ? undefined : pattern;
}

function hiddenBy(rules: FileRules, found: Pattern | undefined, isDirectory: boolean): Hidden | undefined {
  if (rules.type === 'include') return found === undefined && !isDirectory ? rules.name : undefined;
  return found === undefined ? undefined : nameOf(rules, found);
}

function nameOf({ type, name }: FileRules, { at, text }: Pattern): Hidden {
  return type === 'ignore' ? `${name}:${at + 1} (${text.trim()})` : `${name} (${text})`;
}
