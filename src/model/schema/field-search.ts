import type { AnyField, Fields } from './field.ts';

const entriesCache = new WeakMap<Fields, readonly (readonly [string, AnyField])[]>();

/** Returns the fields with their names, in declared order. The list is cached, because declarations never change. */
export function entriesOf(fields: Fields): readonly (readonly [string, AnyField])[] {
  const known = entriesCache.get(fields);
  if (known !== undefined) return known;
  const listed = Object.entries(fields);
  entriesCache.set(fields, listed);
  return listed;
}

/**
 * Returns a function that finds the fields for which `isSought` is true, or which contain such a field. Results are
 * cached, because declarations never change. Lets a walk through a spec skip the values without such fields, which are
 * the majority.
 */
export function createFieldFinder(isSought: (field: AnyField) => boolean): (fields: Fields) => ReadonlySet<string> {
  const known = new WeakMap<Fields, ReadonlySet<string>>();
  const holds = (field: AnyField): boolean => {
    if (isSought(field)) return true;
    if (field.type === 'list') return holds(field.of);
    return (field.type === 'keyed' || field.type === 'object') && find(field.fields).size > 0;
  };
  const find = (fields: Fields): ReadonlySet<string> => {
    const present = known.get(fields);
    if (present !== undefined) return present;
    const found = new Set(entriesOf(fields).flatMap(([name, field]) => (holds(field) ? [name] : [])));
    known.set(fields, found);
    return found;
  };
  return find;
}
