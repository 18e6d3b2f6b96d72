import { mapInSteps } from '../../lib/steps.ts';
import type { Fault } from '../../model/declare/kind.ts';
import type { Problem } from '../../model/problem.ts';
import type { StoredObject } from '../../model/state/object.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import { findUnmanaged } from './adopt.ts';
import { type Desired, problemAt } from './desired.ts';
import { asStored, createSearch, type MatchInput, parentOf, type Search, sameChildren, take } from './search.ts';

/** A desired object with the stored one it stands for, if there is one. */
export interface Matched {
  readonly desired: Desired;
  readonly existing?: StoredObject;
  /** The object has no owner; it was found by annotation or by its name. */
  readonly adopted: 'no' | 'by_id' | 'by_name';
}

export interface Matches {
  readonly matched: readonly Matched[];
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

/**
 * Finds for every desired object the stored one with its key, one of those that the source stated until now that became
 * it, or one to adopt. Nothing is ever matched twice. An item comes back with the key that its object has or gets. Yields
 * now and then.
 */
export function* matchObjects(input: MatchInput): Generator<undefined, Matches> {
  const search = createSearch(input);
  const { desired } = input;
  const matched: Matched[] = [];
  const match = ({ at, item, existing }: Found, leftovers: Map<string, StoredObject[]>): void => {
    const found = matchObject(search, leftovers, item, existing);
    if (found.existing !== undefined) take(search, item, found.existing);
    matched[at] = found;
  };
  const items = desired.map((item, at) => ({ at, item }));
  const roots = items.filter(({ item }) => item.kind.parent === undefined);
  const known = yield* mapInSteps(roots, (root) => findRoot(search, input, root));
  yield* mapInSteps(known, (found) => match(found, new Map()));
  // Children are found by what they belong to and refer to, so everything else comes first.
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

/** An item, where it stands among all, with the key that it has from now on; and the stored object that has it already. */
interface Found {
  readonly at: number;
  readonly item: Desired;
  readonly existing?: StoredObject | undefined;
}

/** Documents that still use a key which its owner changed are refused with the new key. */
function findRoot(search: Search, { former }: MatchInput, { at, item }: Found): Found {
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

function renamedWarning({ kind, key, place }: Desired, name: string): Problem {
  const message = `${kind.name} \`${key}\` is called \`${name}\` now, because the source that decides about it renamed it; call the document that too`;
  const fault: Fault = { code: 'object_renamed', path: '', message };
  return problemAt(place, '/metadata/name', { kind: kind.name, metadata: { name: key } }, fault);
}

/** However a document names the parent, the key of a child begins with the parent's. */
function findChild(search: Search, { at, item }: Found): Found {
  const parent = parentOf(search, item);
  const key = parent === undefined ? undefined : (search.keys.get(parent) ?? search.snapshot.get(parent)?.key);
  const natural = item.key.slice((item.parent ?? '').replace(/^(id|name):/, '').length + 1);
  const known = key === undefined ? item : { ...item, key: `${key}/${natural}` };
  const existing = search.snapshot.findByKey(item.kind.name, known.key);
  if (existing !== undefined) search.taken.add(existing.id);
  return { at, item: known, existing };
}

/** The object that a child refers to, and with it the child, may have another key now; the ids show that. */
function findSameChild(search: Search, input: MatchInput, { at, item }: Found): Found {
  const parent = parentOf(search, item);
  if (parent === undefined) return { at, item };
  const mine = (object: StoredObject) =>
    !search.taken.has(object.id) && object.declared.some(({ source }) => source === input.source);
  const existing = sameChildren(search, item, parent).find(mine);
  if (existing !== undefined) search.taken.add(existing.id);
  return { at, item, existing };
}

function matchObject(
  search: Search,
  leftovers: Map<string, StoredObject[]>,
  item: Desired,
  byKey: StoredObject | undefined,
): Matched {
  if (byKey !== undefined) return { desired: item, existing: byKey, adopted: 'no' };
  const paired = pairChild(search, item, leftovers);
  if (paired !== undefined) return { desired: item, existing: paired, adopted: 'no' };
  return findUnmanaged(search, item) ?? { desired: item, adopted: 'no' };
}

/** Children that nothing states any more, by parent and pairing value, in the order of their keys. */
function leftoversBySlot(
  snapshot: Snapshot,
  before: readonly StoredObject[],
  taken: ReadonlySet<string>,
): Map<string, StoredObject[]> {
  const slots = new Map<string, StoredObject[]>();
  for (const object of before) {
    const kind = snapshot.registry.get(object.kind);
    // What others state too stays theirs; this source then states another child beside it.
    if (taken.has(object.id) || object.declared.length > 1) continue;
    if (kind.pairing === undefined || object.key === undefined || object.parent === undefined) continue;
    // A stored spec is canonical, so it has the shape that the fields give it.
    const slot = slotOf(object.kind, object.parent, kind.pairing(object.spec));
    const others = slots.get(slot);
    if (others === undefined) slots.set(slot, [object]);
    else others.push(object);
  }
  for (const objects of slots.values()) objects.sort((a, b) => ((a.key ?? '') < (b.key ?? '') ? -1 : 1));
  return slots;
}

/** A changed address keeps its id: an old and a new record of equal name and type are one record that changed. */
function pairChild(search: Search, item: Desired, leftovers: Map<string, StoredObject[]>): StoredObject | undefined {
  if (item.kind.pairing === undefined) return undefined;
  const parent = parentOf(search, item);
  if (parent === undefined) return undefined;
  return leftovers.get(slotOf(item.kind.name, parent, item.kind.pairing(asStored(search, item))))?.shift();
}

function slotOf(kind: string, parent: string, pairing: string): string {
  return `${kind}\0${parent}\0${pairing}`;
}
