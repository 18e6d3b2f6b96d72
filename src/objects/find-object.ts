import { nearestAll } from '../lib/nearest.ts';
import type { Kind } from '../model/declare/kind.ts';
import { storedId } from '../model/declare/wire-id.ts';
import { InvalidInput, NotFound } from '../model/errors.ts';
import { aliasIndex } from '../model/state/facets.ts';
import type { StoredObject } from '../model/state/object.ts';
import type { Snapshot } from '../model/state/snapshot.ts';

/**
 * Returns the object that a text names: an id, or `Kind/` followed by a key, a former key, an id or a display name.
 * Finds only objects of kinds that are visible to the caller. Throws `NotFound`, and `InvalidInput` when several
 * objects have the name.
 */
export function findObject(state: Snapshot, text: string, isVisible: (kind: Kind) => boolean): StoredObject {
  const at = text.indexOf('/');
  const kind = at < 0 ? undefined : state.registry.find(text.slice(0, at));
  if (kind !== undefined && isVisible(kind)) return findNamed(state, kind, text.slice(at + 1));
  const found = kind === undefined ? state.get(text) : undefined;
  if (found !== undefined && isVisible(state.registry.get(found.kind))) return found;
  throw new NotFound(`object ${text} not found; name it by its id, or by its kind and key such as Group/developers`);
}

function findNamed(state: Snapshot, kind: Kind, name: string): StoredObject {
  const found = candidates(state, kind, name);
  const [only, ...others] = found;
  if (only === undefined) throw new NotFound(`${kind.name} ${name} not found${hint(state, kind, name)}`);
  if (others.length === 0) return only;
  const ids = found.map(({ key, id }) => key ?? `id:${id}`).join(', ');
  throw new InvalidInput(`${found.length} objects of kind ${kind.name} are called ${name}; name one of ${ids}`);
}

/**
 * Returns the object of these kinds that a text names: a key, a former key, an id or a display name, also with its kind
 * in front. Throws `NotFound`, and `InvalidInput` when several objects have the name.
 */
export function findObjectOfKinds(state: Snapshot, text: string, names: readonly string[]): StoredObject {
  const kinds = names.map((name) => state.registry.get(name));
  const at = text.indexOf('/');
  const only = kinds.find(({ name }) => name === text.slice(0, Math.max(at, 0)));
  if (only !== undefined) return findNamed(state, only, text.slice(at + 1));
  const found = kinds.flatMap((kind) => candidates(state, kind, text));
  const [first, ...others] = found;
  if (first !== undefined && others.length === 0) return first;
  if (first === undefined) {
    const near = kinds.flatMap((kind) => nearestOf(state, kind, text).map((name) => `${kind.name}/${name}`));
    const guess = near.length === 0 ? '' : `; did you mean ${near.slice(0, 3).join(' or ')}?`;
    throw new NotFound(`no ${names.join(', ').replace(/, (\w+)$/, ' or $1')} is called ${text}${guess}`);
  }
  const meant = found.map(({ kind, key, id }) => `${kind}/${key ?? `id:${id}`}`).join(', ');
  throw new InvalidInput(`${found.length} objects are called ${text}; name one of ${meant}`);
}

/**
 * Returns the objects that a name may mean, by the first interpretation that finds any: key, former key, id, display
 * name.
 */
function candidates(state: Snapshot, kind: Kind, name: string): readonly StoredObject[] {
  const byId = (segment: string) => {
    const found = state.get(storedId(kind, segment) ?? segment) ?? state.get(segment);
    return found?.kind === kind.name ? [found] : [];
  };
  const byName = (text: string) => state.lookUp(kind.name, 'name', text);
  if (name.startsWith('id:')) return byId(name.slice(3));
  if (name.startsWith('name:')) return byName(name.slice(5));
  const keyed = state.findByKey(kind.name, name);
  if (keyed !== undefined) return [keyed];
  const senses = [() => state.lookUp(kind.name, aliasIndex, name), () => byId(name), () => byName(name)];
  for (const look of senses) {
    const found = look();
    if (found.length > 0) return found;
  }
  return [];
}

function hint(state: Snapshot, kind: Kind, name: string): string {
  const near = nearestOf(state, kind, name);
  return near.length === 0 ? '' : `; did you mean ${near.join(' or ')}?`;
}

function nearestOf(state: Snapshot, kind: Kind, name: string): readonly string[] {
  const names = state.ofKind(kind.name).flatMap((object) => [object.key ?? object.name, object.name]);
  return nearestAll(name, names, 3);
}
