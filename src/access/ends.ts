import { type BitSet, bitsOf, countBits, hasBit, noBits, numbersIn, subtractBits, uniteBits } from '../lib/bit-set.ts';
import { emptyMap, type PersistentMap } from '../lib/persistent-map.ts';

/** What can stand at an end of a connection: peers open and answer them, resources and routes are only reached. */
export type EndPart = 'peer' | 'resource' | 'route';

/**
 * The ends of an account, each at a place of its own, by which bit sets name it. An end keeps its place as long as it is
 * there; a free place is not given again in the step that freed it, so neighbouring images agree about every place.
 */
export interface Ends {
  /** The id at each place; a place may be free. */
  readonly ids: readonly (string | undefined)[];
  readonly places: PersistentMap<number>;
  /** The places that are taken, in the order of their ids. */
  readonly order: readonly number[];
  readonly of: Readonly<Record<EndPart, BitSet>>;
}

/** Nobody. */
export const noEnds: Ends = {
  ids: [],
  places: emptyMap(),
  order: [],
  of: { peer: noBits, resource: noBits, route: noBits },
};

/** The same places, kept for those who may come. */
export function reservePlaces({ ids, places, order }: Ends): Ends {
  return { ids, places, order, of: noEnds.of };
}

/** Whether sets of both may be compared: nobody has two places, and no place two holders. */
export function agreeOnPlaces(a: Ends, b: Ends): boolean {
  if (a.ids === b.ids) return true;
  const known = (ends: Ends, id: string | undefined, at: number) =>
    id === undefined || (ends.places.get(id) ?? at) === at;
  const clash = (one: Ends, other: Ends) =>
    one.ids.some((id, at) => id !== undefined && other.ids[at] !== id && other.ids[at] !== undefined) ||
    one.ids.some((id, at) => !known(other, id, at));
  return !clash(a, b) && !clash(b, a);
}

/** The ends when some have gone and some have come. */
export function changeEnds(
  ends: Ends,
  gone: readonly string[],
  come: readonly { readonly id: string; readonly part: EndPart }[],
): Ends {
  if (gone.length === 0 && come.length === 0) return ends;
  const ids = [...ends.ids];
  const free = come.length === 0 ? [] : ids.flatMap((id, at) => (id === undefined ? [at] : [])).reverse();
  const left = new Set<number>();
  const joined: Record<EndPart, number[]> = { peer: [], resource: [], route: [] };
  const places = ends.places.edit((draft) => {
    for (const id of gone) {
      const at = draft.get(id);
      if (at === undefined) continue;
      left.add(at);
      ids[at] = undefined;
      draft.delete(id);
    }
    for (const { id, part } of come) {
      const at = draft.get(id) ?? free.pop() ?? ids.length;
      ids[at] = id;
      draft.set(id, at);
      joined[part].push(at);
    }
  });
  const without = bitsOf(left);
  const changed = (part: EndPart) => uniteBits(subtractBits(ends.of[part], without), bitsOf(joined[part]));
  const order = mergePlaces(
    ends,
    ids,
    left,
    come.map(({ id }) => places.get(id) as number),
  );
  return { ids, places, order, of: { peer: changed('peer'), resource: changed('resource'), route: changed('route') } };
}

/** The places of those of these ids that are there. */
export function placesOf(ends: Ends, ids: Iterable<string>): BitSet {
  const found: number[] = [];
  for (const id of ids) {
    const at = ends.places.get(id);
    if (at !== undefined) found.push(at);
  }
  return bitsOf(found);
}

/** The ids at these places, in their order. */
export function idsAt(ends: Ends, places: BitSet): readonly string[] {
  // Going through all ends is worth it from an eighth of them on; below that, sorting is faster.
  const order = countBits(places) * 8 > ends.order.length ? ends.order : sortPlaces(ends, places);
  const ids: string[] = [];
  for (const place of order) if (hasBit(places, place)) ids.push(ends.ids[place] as string);
  return ids;
}

function sortPlaces(ends: Ends, places: BitSet): readonly number[] {
  const rank = ranksOf(ends);
  return [...numbersIn(places)].sort((a, b) => (rank[a] as number) - (rank[b] as number));
}

const ranks = new WeakMap<readonly number[], Int32Array>();

/** The rank of each place in the order of ids. */
function ranksOf({ ids, order }: Ends): Int32Array {
  const known = ranks.get(order);
  if (known !== undefined) return known;
  const fresh = new Int32Array(ids.length);
  for (const [rank, place] of order.entries()) fresh[place] = rank;
  ranks.set(order, fresh);
  return fresh;
}

/** The order without those who left and with those who joined; some of these had their place before they came. */
function mergePlaces(
  { order }: Ends,
  ids: readonly (string | undefined)[],
  left: ReadonlySet<number>,
  joined: readonly number[],
): readonly number[] {
  const stay = order.filter((place) => !left.has(place));
  const known = new Set(stay);
  const byId = (a: number, b: number) => ((ids[a] as string) < (ids[b] as string) ? -1 : 1);
  const come = joined.filter((place) => !known.has(place)).sort(byId);
  const merged: number[] = [];
  let next = 0;
  for (const place of stay) {
    while (next < come.length && byId(come[next] as number, place) < 0) merged.push(come[next++] as number);
    merged.push(place);
  }
  return [...merged, ...come.slice(next)];
}
