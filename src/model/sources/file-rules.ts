import {
  type Glob,
  matchesGlob,
  type PathSegment,
  parseGlob,
  type SpendComparisons,
  splitPath,
} from '../../lib/glob.ts';
import { normalizePath, pathBelow } from '../../lib/path.ts';
import { runToEnd } from '../../lib/steps.ts';
import { InvalidInput } from '../errors.ts';

/** Name of the file at the top of a source that lists ignored files, in the syntax of `.gitignore`. */
export const ignoreFile = '.heddleignore';

/** Types of pattern lists. `ignore` and `exclude` hide matching files; `include` hides all others. */
export const fileRuleTypes = ['ignore', 'exclude', 'include'] as const;

/** List of patterns that decides which files of a source are read. Plain data, because a push sends it along. */
export interface FileRules {
  /** Directory to which the patterns apply, in the form in which files are named. Empty for the top. */
  readonly root: string;
  /** Whether matching files are hidden, or with `include` all others. */
  readonly type: (typeof fileRuleTypes)[number];
  /** Where the patterns are written, for messages. */
  readonly name: string;
  /** One pattern per item; in an ignore file also blank lines and comments. */
  readonly patterns: readonly string[];
}

/** Maximum number of patterns in a list, including blank lines and comments. */
export const maxPatterns = 1000;

/**
 * Maximum number of comparisons for all files of a source, about one second. Counted instead of timed, so that the same
 * input always passes or always fails.
 */
const maxComparisons = 30_000_000;

/** Name of a rule that hides a file, as used in messages: `config/.heddleignore:3 (legacy/)`. */
export type HidingRuleName = string;

/** Number of comparisons between two yields, some milliseconds. */
const comparisonsPerYield = 100_000;

/**
 * Decides which files are hidden. Throws `InvalidInput` when the patterns are too expensive for the number of files.
 */
export interface FileFilter {
  /**
   * Returns the rule that hides a path below the root, or one of the directories above it; `undefined` when the path is
   * visible. An `include` rule never hides a directory, because files inside it may match.
   */
  findHidingRuleName(path: string, isDirectory?: boolean): HidingRuleName | undefined;
  /** Like `findHidingRuleName`, but also returns the root of the rule and the path below it. Yields regularly. */
  findHidingRuleInSteps(path: string, isDirectory?: boolean): Generator<undefined, HidingRule | undefined>;
}

/** A rule that hides a file. */
export interface HidingRule {
  readonly rule: HidingRuleName;
  /** Directory to which the rule applies, normalized. */
  readonly root: string;
  /** Path of the file below that directory. */
  readonly below: string;
}

/** Returns the faults of patterns, each with its position in the list. */
export function patternFaults(
  type: FileRules['type'],
  patterns: readonly string[],
): readonly { readonly at: number; readonly message: string }[] {
  if (patterns.length > maxPatterns)
    return [
      { at: maxPatterns, message: `there are more than ${maxPatterns} patterns; use fewer, such as directories` },
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

/**
 * Combines lists of patterns. Patterns with a fault match nothing. A file to which several lists apply must pass all of
 * them.
 */
export function createFileFilter(rules: readonly FileRules[]): FileFilter {
  return runToEnd(createFileFilterInSteps(rules));
}

/** Like `createFileFilter`, but yields regularly. */
export function* createFileFilterInSteps(rules: readonly FileRules[]): Generator<undefined, FileFilter> {
  const budget = createBudget(rules);
  const lists: PatternMatcher[] = [];
  for (const one of rules) {
    yield undefined;
    lists.push(createPatternMatcher(one, budget));
  }
  function* hidesInSteps(path: string, isDirectory = false): Generator<undefined, HidingRule | undefined> {
    const normal = normalizePath(path);
    for (const list of lists) {
      const hidden = yield* list(normal, isDirectory);
      if (hidden !== undefined) return hidden;
    }
    return undefined;
  }
  return {
    findHidingRuleInSteps: hidesInSteps,
    findHidingRuleName: (path, isDirectory) => runToEnd(hidesInSteps(path, isDirectory))?.rule,
  };
}

/** Counts comparisons against the limit. */
interface Budget {
  readonly spend: SpendComparisons;
  /** Returns true, so that the caller yields, when enough comparisons were made since it last did. */
  isYieldDue(): boolean;
}

function createBudget(rules: readonly FileRules[]): Budget {
  let left = maxComparisons;
  let turn = left - comparisonsPerYield;
  return {
    spend(comparisons) {
      left -= comparisons;
      if (left >= 0) return;
      const names = [...new Set(rules.map(({ name }) => name))].join(', ');
      throw new InvalidInput(
        `The patterns of ${names} are too many or too complex for so many files; use fewer of them, or several sources.`,
      );
    },
    isYieldDue() {
      if (left > turn) return false;
      turn = left - comparisonsPerYield;
      return true;
    },
  };
}

interface Pattern {
  readonly glob: Glob;
  readonly at: number;
  readonly text: string;
}

type PatternMatcher = (path: string, isDirectory: boolean) => Generator<undefined, HidingRule | undefined>;

function createPatternMatcher(rules: FileRules, { spend, isYieldDue }: Budget): PatternMatcher {
  const patterns = rules.patterns.slice(0, maxPatterns).flatMap((text, at): Pattern[] => {
    const glob = parseGlob(text);
    return glob === undefined || 'fault' in glob ? [] : [{ glob, at, text }];
  });
  // The last matching pattern decides.
  const backwards = patterns.toReversed();
  function* decide(steps: readonly PathSegment[], isDirectory: boolean): Generator<undefined, Pattern | undefined> {
    for (const pattern of backwards) {
      if (isYieldDue()) yield undefined;
      const { glob } = pattern;
      if ((isDirectory || !glob.directoryOnly) && matchesGlob(glob, steps, spend)) return pattern;
    }
    return undefined;
  }
  const directories = new Map<string, Pattern | undefined>();
  /**
   * Finds the pattern that matches a directory above the path. Everything in a matching directory matches too, whatever
   * later patterns say.
   */
  function* find(steps: readonly PathSegment[]): Generator<undefined, Pattern | undefined> {
    let found: Pattern | undefined;
    let key = '';
    for (let depth = 1; depth < steps.length && found === undefined; depth += 1) {
      key += `/${steps[depth - 1]?.name}`;
      spend(key.length);
      if (!directories.has(key)) directories.set(key, dropNegated(yield* decide(steps.slice(0, depth), true)));
      found = directories.get(key);
    }
    return found;
  }
  const root = normalizePath(rules.root);
  return function* (path, isDirectory) {
    const below = pathBelow(root, path);
    if (below === undefined) return undefined;
    const steps = splitPath(below);
    const found = (yield* find(steps)) ?? dropNegated(yield* decide(steps, isDirectory));
    const rule = hiddenBy(rules, found, isDirectory);
    return rule === undefined ? undefined : { rule, root, below };
  };
}

function dropNegated(pattern: Pattern | undefined): Pattern | undefined {
  return pattern?.glob.negated === true ? undefined : pattern;
}

function hiddenBy(rules: FileRules, found: Pattern | undefined, isDirectory: boolean): HidingRuleName | undefined {
  if (rules.type === 'include') return found === undefined && !isDirectory ? rules.name : undefined;
  return found === undefined ? undefined : hidingRuleNameOf(rules, found);
}

function hidingRuleNameOf({ type, name }: FileRules, { at, text }: Pattern): HidingRuleName {
  return type === 'ignore' ? `${name}:${at + 1} (${text.trim()})` : `${name} (${text})`;
}
