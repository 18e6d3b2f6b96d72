import { asTexts } from '../../lib/json.ts';
import type { StoredObject } from '../state/object.ts';

/** Member of `derived` that holds the paths of given defaults. */
export const givenDefaultsMember = 'given_defaults';

/**
 * Returns the paths of members that were explicitly given their default or an empty value. Answers show these members
 * and leave out the others. The spec is the same in both cases, so that comparisons of specs see no difference.
 */
export function givenDefaultsOf({ derived }: Pick<StoredObject, 'derived'>): ReadonlySet<string> {
  // Only `withGivenDefaults` writes this member.
  return new Set(asTexts(derived[givenDefaultsMember] ?? []));
}

/**
 * Returns the object with its given defaults updated for the written fields (`isWritten`). Other fields keep their
 * recorded paths.
 */
export function withGivenDefaults(
  object: StoredObject,
  given: readonly string[],
  isWritten: (field: string) => boolean,
): StoredObject {
  const known = [...givenDefaultsOf(object)];
  const kept = known.filter((path) => !isWritten(topLevelField(path)));
  const paths = [...new Set([...kept, ...given.filter((path) => isWritten(topLevelField(path)))])].sort();
  if (paths.length === 0 && known.length === 0) return object;
  const { [givenDefaultsMember]: _, ...derived } = object.derived;
  return { ...object, derived: paths.length === 0 ? derived : { ...derived, [givenDefaultsMember]: paths } };
}

/** Returns the name of the top-level field that a path begins with. */
export function topLevelField(path: string): string {
  return path.split(/[.[]/, 1)[0] ?? '';
}
