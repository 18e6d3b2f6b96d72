import {
  type BitSet,
  bitsOf,
  countBits,
  hasBit,
  noBits,
  numbersIn,
  subtractBits,
  uniteBits,
} from '../../lib/bits/bit-set.ts';
import { emptyMap, type PersistentMap } from '../../lib/persistent-map.ts';

/** What can stand at an end of a connection: peers open and answer them, all others are only reached. */
export type EndpointPart = 'peer' | 'proxy' | 'resource' | 'route';

/**
 * The ends of an account, each at a slot of its own, by which bit sets name it. An end keeps its slot as long as it is
 * there; a free slot is not given again in the step that freed it, so neighbouring images agree about every slot.
 */
export interface Endpoints {
  /** The id at each slot; a slot may be free. */
  readonly ids: readonly (string | undefined)[];
  readonly slots: PersistentMap<number>;
  /** The slots that are taken, in the order of their ids. */
  readonly order: readonly number[];
  readonly of: Readonly<Record<EndpointPart, BitSet>>;
  /** Peers that are here for what was made for them alone: groups may hold them, and let them do nothing. */
  readonly temporaryPeers: BitSet;
}

/** An endpoint that is added. */
export interface NewEndpoint {
  readonly id: string;
  readonly part: EndpointPart;
  readonly temporary?: boolean;
}

/** No endpoints. */
export const noEndpoints: Endpoints = {
  ids: [],
  slots: emptyMap(),
  order: [],
  of: { peer: noBits, proxy: noBits, resource: noBits, route: noBits },
  temporaryPeers: noBits,
};

/** The same slots, kept for those who may come. */
export function reserveSlots({ ids, slots, order }: Endpoints): Endpoints {
  return { ...noEndpoints, ids, slots, order };
}

/** Whether sets of both may be compared: no endpoint has two slots, and no slot two endpoints. */
export function agreeOnSlots(a: Endpoints, b: Endpoints): boolean {
  if (a.ids === b.ids) return true;
  return !a.ids.some((id, at) => {
    if (id === undefined || b.ids[at] === id) return false;
    return b.ids[at] !== undefined || b.slots.get(id) !== undefined;
  });
}

/** The ends when some have gone and some have come. */
export function changeEndpoints(
  endpoints: Endpoints,
  gone: readonly string[],
  come: readonly NewEndpoint[],
): Endpoints {
  if (gone.length === 0 && come.length === 0) return endpoints;
  const ids = [...endpoints.ids];
  const free = come.length === 0 ? [] : ids.flatMap((id, at) => (id === undefined ? [at] : [])).reverse();
  const left = new Set<number>();
  const joined: Record<EndpointPart, number[]> = { peer: [], proxy: [], resource: [], route: [] };
  const temporaries: number[] = [];
  const slots = endpoints.slots.edit((draft) => {
    for (const id of gone) {
      const at = draft.get(id);
      if (at === undefined) continue;
      left.add(at);
      ids[at] = undefined;
      draft.delete(id);
    }
    for (const { id, part, temporary } of come) {
      const at = draft.get(id) ?? free.pop() ?? ids.length;
      ids[at] = id;
      draft.set(id, at);
      joined[part].push(at);
      if (temporary === true) temporaries.push(at);
    }
  });
  const without = bitsOf(left);
  const changed = (part: EndpointPart) => uniteBits(subtractBits(endpoints.of[part], without), bitsOf(joined[part]));
  const order = mergeSlots(
    endpoints,
    ids,
    left,
    come.flatMap(({ id }) => slots.get(id) ?? []),
  );
  const of = {
    ...{ peer: changed('peer'), proxy: changed('proxy') },
    ...{ resource: changed('resource'), route: changed('route') },
  };
  const temporaryPeers = uniteBits(subtractBits(endpoints.temporaryPeers, without), bitsOf(temporaries));
  return { ids, slots, order, of, temporaryPeers };
}

/** The slots of those of these ids that are there. */
export function slotsOf(endpoints: Endpoints, ids: Iterable<string>): BitSet {
  const found: number[] = [];
  for (const id of ids) {
    const at = endpoints.slots.get(id);
    if (at !== undefined) found.push(at);
  }
  return bitsOf(found);
}

/** The ids at these slots, in their order. */
export function idsAt(endpoints: Endpoints, slots: BitSet): readonly string[] {
  return slotsInOrder(endpoints, slots).map((slot) => endpoints.ids[slot] ?? '');
}

/** The slots of a set in the order of their ids; only those that are taken. */
export function slotsInOrder(endpoints: Endpoints, slots: BitSet): readonly number[] {
  // Going through all ends is worth it from an eighth of them on; below that, sorting is faster.
  const order = countBits(slots) * 8 > endpoints.order.length ? endpoints.order : sortSlots(endpoints, slots);
  const found: number[] = [];
  for (const slot of order) if (hasBit(slots, slot)) found.push(slot);
  return found;
}

function sortSlots(endpoints: Endpoints, slots: BitSet): readonly number[] {
  const rank = ranksOf(endpoints);
  return [...numbersIn(slots)].sort((a, b) => (rank[a] ?? 0) - (rank[b] ?? 0));
}

const ranks = new WeakMap<readonly number[], Int32Array>();

/** The rank of each slot in the order of ids. */
function ranksOf({ ids, order }: Endpoints): Int32Array {
  const known = ranks.get(order);
  if (known !== undefined) return known;
  const fresh = new Int32Array(ids.length);
  for (const [rank, slot] of order.entries()) fresh[slot] = rank;
  ranks.set(order, fresh);
  return fresh;
}

/** The order without those who left and with those who joined; some of these had their slot before they came. */
function mergeSlots(
  { order }: Endpoints,
  ids: readonly (string | undefined)[],
  left: ReadonlySet<number>,
  joined: readonly number[],
): readonly number[] {
  const stay = order.filter((slot) => !left.has(slot));
  const known = new Set(stay);
  const byId = (a: number, b: number) => ((ids[a] ?? '') < (ids[b] ?? '') ? -1 : 1);
  const come = joined.filter((slot) => !known.has(slot)).sort(byId);
  const merged: number[] = [];
  let at = 0;
  for (const slot of stay) {
    for (let next = come[at]; next !== undefined && byId(next, slot) < 0; next = come[++at]) merged.push(next);
    merged.push(slot);
  }
  return [...merged, ...come.slice(at)];
}
