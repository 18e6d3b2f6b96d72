import { type BitSet, hasBit, noBits, numbersIn, uniteBits } from '../../lib/bit-set.ts';
import type { Access } from '../access.ts';
import { agreeOnSlots } from '../ends.ts';
import { carryLikeness } from './likeness.ts';
import type { Picture } from './picture.ts';
import type { Half, SharedMap } from './shared.ts';

/** What is known from the image before about peers whose maps may be others now. */
export interface Earlier {
  readonly maps: readonly (SharedMap | undefined)[];
  /** Peers of which something else is said as those that open connections, and as those that are reached. */
  readonly moved: Readonly<Record<'from' | 'to', BitSet>>;
}

/** Keeps the maps of peers that nothing touched; of the others what is said in a direction in which nothing changed. */
export function carryMaps(old: Picture, next: Picture, touched: BitSet): void {
  const [before, after] = [old.access, next.access];
  if (next.likeness.asked > 0 || !agreeOnSlots(before.ends, after.ends)) return;
  carryLikeness(old, next);
  next.maps = [...old.maps];
  for (const slot of numbersIn(touched)) next.maps[slot] = undefined;
  if (before.ends === after.ends && before.gates === after.gates)
    next.earlier = { maps: old.maps, moved: movedFlows(before, after) };
}

/** What was said about a peer in one direction, if the same is said now. */
export function carriedHalf({ earlier }: Picture, at: number, own: 'from' | 'to'): Half | undefined {
  return earlier === undefined || hasBit(earlier.moved[own], at) ? undefined : earlier.maps[at]?.halves?.[own];
}

function movedFlows(before: Access, after: Access): Earlier['moved'] {
  if (before.flows === after.flows) return { from: noBits, to: noBits };
  const [had, has] = [new Set(before.flows), new Set(after.flows)];
  const moved = [...before.flows.filter((flow) => !has.has(flow)), ...after.flows.filter((flow) => !had.has(flow))];
  return {
    from: uniteBits(...moved.map(({ from }) => from.possible)),
    to: uniteBits(...moved.map(({ to }) => to.possible)),
  };
}
