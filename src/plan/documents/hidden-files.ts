import { normalizePath, pathBelow } from '../../lib/path.ts';
import { shouldYield } from '../../lib/steps.ts';
import type { Document } from '../../model/document.ts';
import {
  createFileFilterInSteps,
  type FileFilter,
  type FileRules,
  type HidingRule,
} from '../../model/sources/file-rules.ts';
import type { StoredObject } from '../../model/state/object.ts';
import { type Change, subjectOf, type TrippedGuard } from '../plan.ts';

/** Input for the guards about files that rules hide. */
export interface HiddenInput {
  readonly source: string;
  readonly rules: readonly FileRules[];
  readonly changes: readonly Change[];
  readonly documents: readonly Document[];
  /** Returns the objects that the source has stated until now. */
  stated(): readonly StoredObject[];
}

/** Maximum number of files named in a message. */
const maxNamedFiles = 5;

/** Maximum number of renamings of the source's directory that are tried. */
const maxRenamings = 10;

/**
 * Returns guards for objects that would be deleted because a rule hides the file that stated them. Such a deletion is
 * rarely intended, so each rule that causes one needs an approval, however few objects it deletes. Messages name files
 * relative to the directory of the rule, so that the digest of a plan does not depend on the location of that
 * directory.
 */
export function* hiddenGuards(input: HiddenInput): Generator<undefined, readonly TrippedGuard[]> {
  const deletes = input.rules.length === 0 ? [] : input.changes.filter(({ action }) => action === 'delete');
  if (deletes.length === 0) return [];
  const filter = yield* createFileFilterInSteps(input.rules.map(namedFromRoot));
  const renamings = yield* renamingsOf(input);
  const found: HidingRule[] = [];
  for (const [at, change] of deletes.entries()) {
    if (shouldYield(at)) yield undefined;
    const file = fileOf(input.source, subjectOf(change));
    const hidden = file === undefined ? undefined : yield* findHidingRule(filter, renamings, file);
    if (hidden !== undefined) found.push(hidden);
  }
  const byRule = Map.groupBy(found, ({ root, rule }) => `${root}\n${rule}`);
  const messages = [...byRule.values()].map((files) => messageOf(files));
  return messages.sort().map((message) => ({ guard: 'hidden', message }));
}

/**
 * Returns rules whose name is relative to their root, such as `config/.heddleignore` or "`include` of
 * config/heddle.yaml", so that it does not depend on the location of that directory.
 */
function namedFromRoot(rules: FileRules): FileRules {
  const [list, path] = rules.name.startsWith('`') ? splitAfter(rules.name, ' of ') : ['', rules.name];
  const below = pathBelow(normalizePath(rules.root), normalizePath(path));
  return below === undefined ? rules : { ...rules, name: `${list}${below}` };
}

function splitAfter(text: string, separator: string): readonly [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? ['', text] : [text.slice(0, at + separator.length), text.slice(at + separator.length)];
}

/** Returns the first rule that hides a file, under its former path or a path that it may have now. */
function* findHidingRule(
  filter: FileFilter,
  renamings: readonly Renaming[],
  stated: string,
): Generator<undefined, HidingRule | undefined> {
  for (const path of [stated, ...renamings.flatMap((renaming) => renamedPaths(stated, renaming))]) {
    const hiding = yield* filter.findHidingRuleInSteps(path);
    if (hiding !== undefined) return hiding;
  }
  return undefined;
}

/**
 * Former and current directory of the files. They differ when another person pushes, or pushes from another directory.
 */
interface Renaming {
  readonly from: string;
  readonly to: string;
}

function renamedPaths(path: string, { from, to }: Renaming): readonly string[] {
  const below = pathBelow(from, path);
  return below === undefined ? [] : [to === '' || to === '/' ? `${to}${below}` : `${to}/${below}`];
}

/** Returns how the paths of files changed whose documents are still stated. */
function* renamingsOf({ source, documents, stated }: HiddenInput): Generator<undefined, readonly Renaming[]> {
  const files = new Map<string, string>();
  for (const [at, object] of stated().entries()) {
    if (shouldYield(at)) yield undefined;
    const file = fileOf(source, object);
    if (file !== undefined && object.key !== undefined) files.set(`${object.kind}/${object.key}`, file);
  }
  const renamings = new Map<string, Renaming>();
  for (const [at, { kind, metadata, position }] of documents.entries()) {
    if (shouldYield(at)) yield undefined;
    const before = files.get(`${kind}/${metadata.name}`);
    const renaming = before === undefined ? undefined : renamingOf(before, normalizePath(position.file));
    if (renaming !== undefined) renamings.set(JSON.stringify(renaming), renaming);
    if (renamings.size === maxRenamings) break;
  }
  return [...renamings.values()];
}

/**
 * Returns the two paths without their common trailing steps; `undefined` when they have no common trailing step, or are
 * equal.
 */
function renamingOf(before: string, after: string): Renaming | undefined {
  if (before === after) return undefined;
  const [from, to] = [before.split('/'), after.split('/')];
  const isAlike = from.at(-1) === to.at(-1);
  while (from.length > 0 && from.at(-1) === to.at(-1)) {
    from.pop();
    to.pop();
  }
  return isAlike ? { from: directoryOf(from, before), to: directoryOf(to, after) } : undefined;
}

function directoryOf(steps: readonly string[], path: string): string {
  return steps.length === 1 && steps[0] === '' && path.startsWith('/') ? '/' : steps.join('/');
}

function fileOf(source: string, { declared }: StoredObject): string | undefined {
  const file = declared.find((by) => by.source === source)?.file;
  return file === undefined ? undefined : normalizePath(file);
}

function messageOf(hidden: readonly HidingRule[]): string {
  const files = [...new Set(hidden.map(({ below }) => below))].sort();
  const more = files.length - maxNamedFiles;
  const named = `${files.slice(0, maxNamedFiles).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  const many = hidden.length === 1 ? '1 object' : `${hidden.length} objects`;
  return `deletes ${many}, because ${hidden[0]?.rule} excludes the files that stated ${hidden.length === 1 ? 'it' : 'them'}: ${named}`;
}
