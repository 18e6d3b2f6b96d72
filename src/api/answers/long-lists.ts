import type { Engine } from '../../commit/engine.ts';
import { sha256 } from '../../lib/node-pure.ts';
import { shouldYield } from '../../lib/steps.ts';
import type { State } from '../../model/declare/kind.ts';
import { lowerToResponse } from '../../model/lower/response.ts';
import { partKeys } from '../../model/state/facets.ts';
import type { StoredObject } from '../../model/state/object.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import { type ExternalLookup, isLookupUnchanged, WatchedState } from '../../model/state/watched-state.ts';
import type { Answer } from './answers.ts';

/** One object of a list as it was last serialised, with the data that its text depends on. */
interface Item {
  readonly id: string;
  readonly version: number;
  readonly text: string;
  /** 64-bit hash of the text. */
  readonly hash: bigint;
  readonly readParts: readonly string[];
  /** Data from outside the revision that the text depends on, such as connections and counts. */
  readonly lookups: readonly ExternalLookup[];
}

/** A list as it was last serialised. */
interface CachedList {
  state: Snapshot;
  /** Answer with all items. Absent when an item has changed since. */
  answer?: Answer;
  /** Sorted by id. */
  readonly items: Item[];
  /**
   * Sum of the hashes of the items, modulo 2^64. It identifies the set of items, and their order follows from the set.
   */
  sum: bigint;
  /** Number of items that depend on data from outside the revision. */
  itemsWithLookups: number;
  /** Ids of the items that depend on a part of the state, by part. */
  readonly dependents: Map<string, string | Set<string>>;
}

/** Minimum length of a list that is kept. Shorter lists are serialised as fast from scratch. */
const minCachedLength = 500;

/** Maximum number of objects in all kept lists. An object takes about 1 kB. */
const maxCachedObjects = 100_000;

/** Cache of serialised lists. */
interface LongLists {
  /**
   * Returns the list of all objects of a kind. Returns `undefined` when the list is short, when the state is older than
   * the kept list, or when the list is being updated. `seen` is the same state with the observations for this request.
   * Yields regularly.
   */
  answer(state: Snapshot, kind: string, seen?: State): Generator<undefined, Answer | undefined>;
}

const lists = new WeakMap<Engine, LongLists>();

/** Returns the long lists of a server. */
export function longListsOf(engine: Engine): LongLists {
  const present = lists.get(engine) ?? createLongLists();
  lists.set(engine, present);
  return present;
}

/**
 * Serialises lists of all objects of a kind. For a long list, the text of each object is kept until a part of the state
 * changes that the text depends on: after a change of one among 10,000 objects the list costs 5 ms instead of 60.
 * Observations from outside the revision are compared for each list, and only objects with a different observation are
 * serialised again.
 */
export function createLongLists(shortest = minCachedLength): LongLists {
  const known = new Map<string, CachedList>();
  /** Lists that are being updated. A request for another state bypasses the cache during that time. */
  const busy = new Set<string>();
  return {
    *answer(state, kind, seen = state) {
      if (state.countOf(kind) < shortest) return undefined;
      const name = `${state.account} ${kind}`;
      const present = known.get(name);
      // An older state is rarely requested, and the kept list of the newer state is worth more.
      if (busy.has(name) || (present !== undefined && present.state.revision > state.revision)) return undefined;
      busy.add(name);
      // If the update fails, the half-updated list must not be used.
      known.delete(name);
      try {
        const kept: CachedList = present ?? { state, items: [], sum: 0n, itemsWithLookups: 0, dependents: new Map() };
        if (present === undefined) yield* fill(kept, seen, kind);
        else {
          if (present.state !== state) yield* update(kept, state, seen, kind);
          yield* refreshLookups(kept, seen);
        }
        kept.answer ??= yield* write(kept);
        known.set(name, kept);
        evict(known);
        return kept.answer;
      } finally {
        busy.delete(name);
      }
    },
  };
}

function* fill(kept: CachedList, state: State, kind: string): Generator<undefined, void> {
  for (const [at, object] of state.ofKind(kind).entries()) {
    if (shouldYield(at)) yield undefined;
    put(kept, state, object);
  }
}

function* update(kept: CachedList, state: Snapshot, seen: State, kind: string): Generator<undefined, void> {
  const changed = state.changedPartsSince(kept.state);
  const stale = new Set<string>();
  for (const part of changed) for (const id of dependentsOf(kept, part)) stale.add(id);
  // No item depends on a new object yet, so new objects are added here.
  for (const id of state.changedOfKind(kind, kept.state)) stale.add(id);
  kept.state = state;
  let at = 0;
  for (const id of stale) {
    if (shouldYield(at++)) yield undefined;
    const object = state.get(id);
    if (object === undefined) drop(kept, id);
    else put(kept, seen, object);
  }
}

/** Serialises the items again whose observations from outside the revision have changed. */
function* refreshLookups(kept: CachedList, seen: State): Generator<undefined, void> {
  if (kept.itemsWithLookups === 0) return;
  for (const [at, { id, lookups }] of kept.items.entries()) {
    if (shouldYield(at)) yield undefined;
    if (lookups.every((look) => isLookupUnchanged(look, seen))) continue;
    const object = seen.get(id);
    if (object !== undefined) put(kept, seen, object);
  }
}

/** Returns the ids of the items that depend on a part. Most parts have only one, which is stored without a set. */
function dependentsOf({ dependents }: CachedList, part: string): Iterable<string> {
  const found = dependents.get(part);
  return typeof found === 'string' ? [found] : (found ?? []);
}

function put(kept: CachedList, state: State, object: StoredObject): void {
  const { id, updatedRevision: version } = object;
  const watched = new WatchedState(state);
  const text = JSON.stringify(lowerToResponse(kept.state.registry, object, watched, 'list'));
  const item = {
    id,
    version,
    text,
    hash: hashOf(text),
    readParts: [...watched.readParts, partKeys.object(id)],
    lookups: watched.lookups,
  };
  delete kept.answer;
  const at = findPosition(kept.items, id);
  const old = kept.items[at];
  if (old?.id === id) {
    forget(kept, old);
    kept.items[at] = item;
  } else kept.items.splice(at, 0, item);
  kept.sum = BigInt.asUintN(64, kept.sum + item.hash);
  if (item.lookups.length > 0) kept.itemsWithLookups += 1;
  for (const part of item.readParts) {
    const followers = kept.dependents.get(part);
    if (followers === undefined) kept.dependents.set(part, id);
    else if (typeof followers === 'string') kept.dependents.set(part, new Set([followers, id]));
    else followers.add(id);
  }
}

function drop(kept: CachedList, id: string): void {
  const at = findPosition(kept.items, id);
  const item = kept.items[at];
  if (item?.id !== id) return;
  delete kept.answer;
  forget(kept, item);
  kept.items.splice(at, 1);
}

function forget(kept: CachedList, { id, readParts, hash, lookups }: Item): void {
  kept.sum = BigInt.asUintN(64, kept.sum - hash);
  if (lookups.length > 0) kept.itemsWithLookups -= 1;
  const { dependents } = kept;
  for (const part of readParts) {
    const others = dependents.get(part);
    if (typeof others === 'string') {
      if (others === id) dependents.delete(part);
      continue;
    }
    others?.delete(id);
    if (others?.size === 0) dependents.delete(part);
  }
}

/** Returns the index of an id among the items, or the index at which to insert it. */
function findPosition(items: readonly Item[], id: string): number {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((items[middle]?.id ?? '') < id) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Joins the items. The ETag is made of the hashes of the items: a change of one item costs one short hash, instead of a
 * hash over megabytes. The ETag is the same on every server, but differs from the ETag of the same list serialised
 * without this cache.
 */
function* write({ items, sum }: CachedList): Generator<undefined, Answer> {
  let [version, text] = [0, '['];
  for (const [at, item] of items.entries()) {
    if (shouldYield(at)) yield undefined;
    version = Math.max(version, item.version);
    text += at === 0 ? item.text : `,${item.text}`;
  }
  return { text: `${text}]`, etag: `"${version}.${sum.toString(16).padStart(16, '0')}"` };
}

function hashOf(text: string): bigint {
  return BigInt(`0x${sha256(text).slice(0, 16)}`);
}

function evict(known: Map<string, CachedList>): void {
  let total = 0;
  for (const { items } of known.values()) total += items.length;
  for (const [name, { items }] of known) {
    if (total <= maxCachedObjects || known.size === 1) return;
    known.delete(name);
    total -= items.length;
  }
}
