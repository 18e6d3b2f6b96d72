import { mapInSteps } from '../../lib/steps.ts';
import type { Fault } from '../../model/declare/kind.ts';
import type { Problem } from '../../model/problem.ts';
import type { StoredObject } from '../../model/state/object.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import { findUnmanaged } from './adopt.ts';
import { type DesiredObject, problemAt } from './desired.ts';
import {
  asStored,
  childrenWithSameKey,
  createSearch,
  type MatchInput,
  parentOf,
  recordMatch,
  type Search,
} from './search.ts';

/** A desired object, and the stored object that it describes. `existing` is absent for a new object. */
export interface MatchedObject {
  readonly desired: DesiredObject;
  readonly existing?: StoredObject;
  /**
   * How the object was adopted: it had no owner, and was found by annotation (`by_id`) or by its name. `no`: not
   * adopted.
   */
  readonly adopted: 'no' | 'by_id' | 'by_name';
}

export interface Matches {
  readonly matched: readonly MatchedObject[];
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

/**
 * Finds the stored object for every desired object: by key, then an object of the source that was renamed or changed
 * into it, then an unmanaged object to adopt. No object is matched twice. Each item is returned with the key that its
 * object has or gets. Yields regularly.
 */
export function* matchObjects(input: MatchInput): Generator<undefined, Matches> {
  const search = createSearch(input);
  const { desired } = input;
  const matched: MatchedObject[] = [];
  const match = ({ at, item, existing }: KeyMatch, leftovers: Map<string, StoredObject[]>): void => {
    const found = matchObject(search, leftovers, item, existing);
    if (found.existing !== undefined) recordMatch(search, item, found.existing);
    matched[at] = found;
  };
  const items = desired.map((item, at) => ({ at, item }));
  const roots = items.filter(({ item }) => item.kind.parent === undefined);
  const known = yield* mapInSteps(roots, (root) => findRoot(search, input, root));
  yield* mapInSteps(known, (found) => match(found, new Map()));
  // Children are matched by their parent and their references, so all other objects come first.
  const children = items.filter(({ item }) => item.kind.parent !== undefined);
  const byKey = yield* mapInSteps(children, (child) => findChild(search, child));
  const found = yield* mapInSteps(byKey, (child) =>
    child.existing === undefined ? findSameChild(search, input, child) : child,
  );
  const leftovers = leftoversBySlot(input.snapshot, input.before, search.taken);
  yield* mapInSteps(found, (child) => match(child, leftovers));
  const { problems, warnings } = search;
  return { matched, problems, warnings };
}

/** An item with its position in the input and its final key, and the stored object that already has that key. */
interface KeyMatch {
  readonly at: number;
  readonly item: DesiredObject;
  readonly existing?: StoredObject | undefined;
}

/**
 * Finds a root object by its key. A document that still uses a key which the object's owner changed is matched to the
 * object under the new key, with a warning.
 */
function findRoot(search: Search, { former }: MatchInput, { at, item }: KeyMatch): KeyMatch {
  const { snapshot, taken, ids } = search;
  const { kind, key } = item;
  const renamed = snapshot.get(former.get(`${kind.name}/${key}`) ?? '');
  const existing = renamed ?? snapshot.findByKey(kind.name, key);
  if (existing === undefined) return { at, item };
  taken.add(existing.id);
  if (renamed?.key === undefined) return { at, item, existing };
  ids.set(`${kind.name}/${key}`, existing.id);
  search.warnings.push(renamedWarning(item, renamed.key));
  return { at, item: { ...item, key: renamed.key }, existing };
}

function renamedWarning({ kind, key, position }: DesiredObject, name: string): Problem {
  const message = `${kind.name} \`${key}\` was renamed to \`${name}\` by the source that decides its key; rename the document too`;
  const fault: Fault = { code: 'object_renamed', path: '', message };
  return problemAt(position, '/metadata/name', { kind: kind.name, metadata: { name: key } }, fault);
}

/** Finds a child by its key, which begins with the parent's key however the document names the parent. */
function findChild(search: Search, { at, item }: KeyMatch): KeyMatch {
  const parent = parentOf(search, item);
  const key = parent === undefined ? undefined : (search.keys.get(parent) ?? search.snapshot.get(parent)?.key);
  const natural = item.key.slice((item.parent ?? '').replace(/^(id|name):/, '').length + 1);
  const known = key === undefined ? item : { ...item, key: `${key}/${natural}` };
  const existing = search.snapshot.findByKey(item.kind.name, known.key);
  if (existing !== undefined) search.taken.add(existing.id);
  return { at, item: known, existing };
}

/**
 * Finds a child by ids: the object to which it refers may have another key now, which changes the key of the child too.
 */
function findSameChild(search: Search, input: MatchInput, { at, item }: KeyMatch): KeyMatch {
  const parent = parentOf(search, item);
  if (parent === undefined) return { at, item };
  const mine = (object: StoredObject) =>
    !search.taken.has(object.id) && object.declared.some(({ source }) => source === input.source);
  const existing = childrenWithSameKey(search, item, parent).find(mine);
  if (existing !== undefined) search.taken.add(existing.id);
  return { at, item, existing };
}

function matchObject(
  search: Search,
  leftovers: Map<string, StoredObject[]>,
  item: DesiredObject,
  byKey: StoredObject | undefined,
): MatchedObject {
  if (byKey !== undefined) return { desired: item, existing: byKey, adopted: 'no' };
  const paired = pairChild(search, item, leftovers);
  if (paired !== undefined) return { desired: item, existing: paired, adopted: 'no' };
  return findUnmanaged(search, item) ?? { desired: item, adopted: 'no' };
}

/** Returns the children that the source no longer states, by parent and pairing value, sorted by key. */
function leftoversBySlot(
  snapshot: Snapshot,
  before: readonly StoredObject[],
  taken: ReadonlySet<string>,
): Map<string, StoredObject[]> {
  const slots = new Map<string, StoredObject[]>();
  for (const object of before) {
    const kind = snapshot.registry.get(object.kind);
    // A child that other sources state too is kept for them; this source then states another child next to it.
    if (taken.has(object.id) || object.declared.length > 1) continue;
    if (kind.pairing === undefined || object.key === undefined || object.parent === undefined) continue;
    // The stored spec is canonical, so it has the shape that the fields define.
    const slot = slotOf(object.kind, object.parent, kind.pairing(object.spec));
    const others = slots.get(slot);
    if (others === undefined) slots.set(slot, [object]);
    else others.push(object);
  }
  for (const objects of slots.values()) objects.sort((a, b) => ((a.key ?? '') < (b.key ?? '') ? -1 : 1));
  return slots;
}

/**
 * Pairs a new child with a former one, so that a changed address keeps its id: an old and a new record with the same
 * name and type are the same record.
 */
function pairChild(
  search: Search,
  item: DesiredObject,
  leftovers: Map<string, StoredObject[]>,
): StoredObject | undefined {
  if (item.kind.pairing === undefined) return undefined;
  const parent = parentOf(search, item);
  if (parent === undefined) return undefined;
  return leftovers.get(slotOf(item.kind.name, parent, item.kind.pairing(asStored(search, item))))?.shift();
}

function slotOf(kind: string, parent: string, pairing: string): string {
  return `${kind}\0${parent}\0${pairing}`;
}
