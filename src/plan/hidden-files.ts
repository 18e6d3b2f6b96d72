import { createFileFilter, type FileRules } from '../model/file-rules.ts';
import { type Change, subjectOf, type TrippedGuard } from './plan.ts';

/** So many files are named. */
const mostNamed = 5;

/**
 * Objects that would be deleted because a rule hides the file which stated them: whoever leaves files out hardly means to
 * delete what they state, however little that is, so each rule that does so wants to be approved.
 */
export function hiddenGuards(
  source: string,
  rules: readonly FileRules[],
  changes: readonly Change[],
): readonly TrippedGuard[] {
  if (rules.length === 0) return [];
  const filter = createFileFilter(rules);
  const files = changes.flatMap((change) => {
    const stated = change.action === 'delete' ? fileOf(source, change) : undefined;
    const rule = stated === undefined ? undefined : filter.hides(stated);
    return stated === undefined || rule === undefined ? [] : [{ file: stated, rule }];
  });
  return [...Map.groupBy(files, ({ rule }) => rule)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([rule, list]) => ({ guard: 'hidden', message: messageOf(rule, list) }));
}

function fileOf(source: string, change: Change): string | undefined {
  return subjectOf(change).declared.find((by) => by.source === source)?.file;
}

function messageOf(rule: string, objects: readonly { readonly file: string }[]): string {
  const files = [...new Set(objects.map(({ file }) => file))].sort();
  const more = files.length - mostNamed;
  const named = `${files.slice(0, mostNamed).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  const many = objects.length === 1 ? '1 object' : `${objects.length} objects`;
  return `deletes ${many}, because ${rule} leaves out what stated ${objects.length === 1 ? 'it' : 'them'}: ${named}`;
}
