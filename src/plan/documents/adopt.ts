import { canOnlyStateExisting, type Fault, type Kind } from '../../model/declare/kind.ts';
import type { StoredObject } from '../../model/state/object.ts';
import { adoptAnnotation } from './annotations.ts';
import { type DesiredObject, problemAt } from './desired.ts';
import type { MatchedObject } from './identity.ts';
import { childrenWithSameKey, parentOf, type Search } from './search.ts';

/** Finds the unmanaged object that a document adopts: by id, otherwise by name. */
export function findUnmanaged(search: Search, item: DesiredObject): MatchedObject | undefined {
  const { snapshot, taken, problems } = search;
  const { kind } = item;
  const adopt = item.annotations[adoptAnnotation];
  if (adopt !== undefined) return adoptById(search, item, adopt);
  const free = (object: StoredObject) =>
    isUnmanaged(kind, object) && !taken.has(object.id) && kind.isSystem?.(object) !== true;
  if (kind.singleton !== undefined) return adoptAs(item, snapshot.ofKind(kind.name).find(free), 'by_id');
  if (kind.single === true) return adoptByName(search, item, snapshot.ofKind(kind.name).find(free));
  if (kind.parent !== undefined) {
    const parent = parentOf(search, item);
    return parent === undefined
      ? undefined
      : adoptByName(search, item, childrenWithSameKey(search, item, parent).find(free));
  }
  const named = snapshot.lookUp(kind.name, 'name', String(item.spec[kind.nameField] ?? '')).filter(free);
  if (named.length > 1) {
    const ids = named.map((object) => `id:${object.id}`).join(', ');
    const message = `${named.length} objects of kind ${kind.name} that no source manages have this name; choose one with the annotation ${adoptAnnotation}: one of ${ids}`;
    problems.push(
      problemAt(
        item.position,
        '/metadata',
        { kind: kind.name, metadata: { name: item.key } },
        { code: 'adopt_ambiguous', path: '', message },
      ),
    );
  }
  return adoptByName(search, item, named[0]);
}

/**
 * Adopts an object that has the same name. When the source adopts nothing (`never`), the object is reported as a
 * problem.
 */
function adoptByName(search: Search, item: DesiredObject, object: StoredObject | undefined): MatchedObject | undefined {
  if (search.adopt !== 'never' || object === undefined) return adoptAs(item, object, 'by_name');
  const { kind, key } = item;
  const message = `${kind.name} \`${object.name}\` already exists (id ${object.id}), no source manages it, and this source adopts nothing by name; adopt it with the annotation ${adoptAnnotation}: "id:${object.id}", or choose another name`;
  const fault: Fault = { code: 'object_exists', path: '', message };
  search.problems.push(problemAt(item.position, item.pointer, { kind: kind.name, metadata: { name: key } }, fault));
  return undefined;
}

function adoptAs(
  item: DesiredObject,
  existing: StoredObject | undefined,
  adopted: MatchedObject['adopted'],
): MatchedObject | undefined {
  return existing === undefined ? undefined : { desired: item, existing, adopted };
}

function adoptById(
  { snapshot, taken, problems }: Search,
  item: DesiredObject,
  adopt: string,
): MatchedObject | undefined {
  const id = adopt.replace(/^id:/, '');
  const object = snapshot.get(id);
  const fault =
    object === undefined || object.kind !== item.kind.name
      ? `there is no ${item.kind.name} with the id ${id} in this account`
      : !isUnmanaged(item.kind, object)
        ? `${item.kind.name} ${object.key ?? object.name} is already managed by ${managersOf(object).join(', ')}`
        : item.kind.isSystem?.(object) === true
          ? `${item.kind.name} ${object.name} is a system object`
          : taken.has(object.id)
            ? `${item.kind.name} ${object.name} is already adopted by another document`
            : undefined;
  if (fault === undefined) return adoptAs(item, object, 'by_id');
  const message = `${fault}; correct or remove the annotation ${adoptAnnotation}`;
  problems.push(
    problemAt(
      item.position,
      '/metadata/annotations',
      { kind: item.kind.name, metadata: { name: item.key } },
      { code: 'adopt_impossible', path: '', message },
    ),
  );
  return undefined;
}

/**
 * Whether no source manages an object. A key that a document gave does not count once the object is released. In kinds
 * that documents do not create, the key belongs to the object, so an object with a key cannot be adopted.
 */
function isUnmanaged(kind: Kind, { owner, declared, key }: StoredObject): boolean {
  return owner === undefined && declared.length === 0 && (key === undefined || !canOnlyStateExisting(kind));
}

function managersOf(object: StoredObject): readonly string[] {
  return [
    ...new Set([...(object.owner === undefined ? [] : [object.owner]), ...object.declared.map(({ source }) => source)]),
  ];
}
