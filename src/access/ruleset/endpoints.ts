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

/** Type of an endpoint of a connection. Peers open and accept connections. The other types only accept them. */
export type EndpointType = 'peer' | 'proxy' | 'resource' | 'route';

/**
 * Endpoints of an account. Each has a slot, its number in bit sets, and keeps it until it is removed. A slot that
 * becomes free is not reused in the same step, so consecutive images agree on every slot.
 */
export interface Endpoints {
  /** Id at each slot. `undefined` when the slot is free. */
  readonly ids: readonly (string | undefined)[];
  readonly slots: PersistentMap<number>;
  /** Occupied slots, sorted by id. */
  readonly order: readonly number[];
  readonly byType: Readonly<Record<EndpointType, BitSet>>;
  /** Peers that exist to reach one other peer. Groups may contain them but grant them nothing. */
  readonly temporaryPeers: BitSet;
}

/** Endpoint to add. */
export interface NewEndpoint {
  readonly id: string;
  readonly type: EndpointType;
  readonly temporary?: boolean;
}

/** Endpoints of an empty account. */
export const noEndpoints: Endpoints = {
  ids: [],
  slots: emptyMap(),
  order: [],
  byType: { peer: noBits, proxy: noBits, resource: noBits, route: noBits },
  temporaryPeers: noBits,
};

/** Returns no endpoints, but keeps the slots reserved for the same ids. */
export function reserveSlots({ ids, slots, order }: Endpoints): Endpoints {
  return { ...noEndpoints, ids, slots, order };
}

/** Whether bit sets of both images can be compared: no endpoint has two slots, and no slot has two endpoints. */
export function agreeOnSlots(a: Endpoints, b: Endpoints): boolean {
  if (a.ids === b.ids) return true;
  return !a.ids.some((id, at) => {
    if (id === undefined || b.ids[at] === id) return false;
    return b.ids[at] !== undefined || b.slots.get(id) !== undefined;
  });
}

/** Returns the endpoints after some were removed (`gone`) and some were added (`come`). */
export function changeEndpoints(
  endpoints: Endpoints,
  gone: readonly string[],
  come: readonly NewEndpoint[],
): Endpoints {
  if (gone.length === 0 && come.length === 0) return endpoints;
  const ids = [...endpoints.ids];
  const free = come.length === 0 ? [] : ids.flatMap((id, at) => (id === undefined ? [at] : [])).reverse();
  const left = new Set<number>();
  const joined: Record<EndpointType, number[]> = { peer: [], proxy: [], resource: [], route: [] };
  const temporaries: number[] = [];
  const slots = endpoints.slots.edit((draft) => {
    for (const id of gone) {
      const at = draft.get(id);
      if (at === undefined) continue;
      left.add(at);
      ids[at] = undefined;
      draft.delete(id);
    }
    for (const { id, type: part, temporary } of come) {
      const at = draft.get(id) ?? free.pop() ?? ids.length;
      ids[at] = id;
      draft.set(id, at);
      joined[part].push(at);
      if (temporary === true) temporaries.push(at);
    }
  });
  const without = bitsOf(left);
  const changed = (part: EndpointType) =>
    uniteBits(subtractBits(endpoints.byType[part], without), bitsOf(joined[part]));
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
  return { ids, slots, order, byType: of, temporaryPeers };
}

/** Returns the slots of endpoints by id. Unknown ids are skipped. */
export function slotsOf(endpoints: Endpoints, ids: Iterable<string>): BitSet {
  const found: number[] = [];
  for (const id of ids) {
    const at = endpoints.slots.get(id);
    if (at !== undefined) found.push(at);
  }
  return bitsOf(found);
}

/** Returns the ids at slots, sorted. */
export function idsAt(endpoints: Endpoints, slots: BitSet): readonly string[] {
  return slotsInOrder(endpoints, slots).map((slot) => endpoints.ids[slot] ?? '');
}

/** Returns the occupied slots of a set, sorted by id. */
export function slotsInOrder(endpoints: Endpoints, slots: BitSet): readonly number[] {
  // Scanning all endpoints is faster for a set of more than an eighth of them. For smaller sets sorting is faster.
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

/** Returns the rank of each slot in the order of ids. */
function ranksOf({ ids, order }: Endpoints): Int32Array {
  const known = ranks.get(order);
  if (known !== undefined) return known;
  const fresh = new Int32Array(ids.length);
  for (const [rank, slot] of order.entries()) fresh[slot] = rank;
  ranks.set(order, fresh);
  return fresh;
}

/**
 * Returns `order` without the slots that left and with those that joined. A joined slot may be in `order` already,
 * because it was reserved.
 */
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
