import { asTexts } from '../../lib/json.ts';
import type { StoredObject } from '../state/object.ts';
import type { Normalized } from './normalize.ts';

/** Under this name the paths are kept in `derived`. */
const member = 'given_defaults';

/**
 * Paths of members that were given the value which they have by default: answers show them, and leave out those that
 * were not given. The spec is the same in both cases, so that comparisons of specs see no difference.
 */
export function givenDefaultsOf({ derived }: Pick<StoredObject, 'derived'>): ReadonlySet<string> {
  // Written by `withGivenDefaults` alone.
  return new Set(asTexts(derived[member] ?? []));
}

/** The object with what was given of the fields that were written (`isWritten`); of others it keeps what it knows. */
export function withGivenDefaults(
  object: StoredObject,
  given: Normalized['given'],
  isWritten: (field: string) => boolean,
): StoredObject {
  const known = [...givenDefaultsOf(object)];
  const kept = known.filter((path) => !isWritten(fieldOf(path)));
  const paths = [...new Set([...kept, ...given.filter((path) => isWritten(fieldOf(path)))])].sort();
  if (paths.length === 0 && known.length === 0) return object;
  const { [member]: _, ...derived } = object.derived;
  return { ...object, derived: paths.length === 0 ? derived : { ...derived, [member]: paths } };
}

function fieldOf(path: string): string {
  return path.split(/[.[]/, 1)[0] ?? '';
}
