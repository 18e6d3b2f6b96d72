import { addBits, type BitSet, dropBits, hasAllBits, hasBit } from '../lib/bit-set.ts';
import { intersectIntervals, joinIntervals, subtractIntervals } from '../lib/intervals.ts';
import type { Access } from './access.ts';
import type { Extent, Flow } from './flows.ts';
import { closedGates, shutOut } from './line.ts';
import { cutTraffic } from './pieces.ts';

/** The flows that speak about an end, as one that opens connections and as one that is reached. */
export interface Spoken {
  readonly from: readonly Flow[];
  readonly to: readonly Flow[];
}

/** Finds the flows that speak about an end. */
export function spokenAbout({ flows }: Access, at: number): Spoken {
  const [from, to]: [Flow[], Flow[]] = [[], []];
  for (const flow of flows) {
    if (hasBit(flow.from.possible, at)) from.push(flow);
    if (hasBit(flow.to.possible, at)) to.push(flow);
  }
  return { from, to };
}

/** Whether an end counts as another of its own kind: what peers that are alike have in common may name themselves. */
export type Itself = 'left out' | 'as another';

/** What a peer may open some connection to, drops weighed; not itself unless asked for. */
export function reachedFrom(
  access: Access,
  at: number,
  { from }: Spoken = spokenAbout(access, at),
  itself: Itself = 'left out',
): Extent {
  return reached(access, from, { at, own: 'from', other: 'to', closed: closedGates(access, at), itself });
}

/** Peers that may open some connection to an end, drops weighed; not itself unless asked for. */
export function reachedTo(
  access: Access,
  at: number,
  { to }: Spoken = spokenAbout(access, at),
  itself: Itself = 'left out',
): Extent {
  return reached(access, to, { at, own: 'to', other: 'from', closed: shutOut(access, at), itself });
}

interface View {
  readonly at: number;
  readonly own: 'from' | 'to';
  readonly other: 'from' | 'to';
  /** Ends that are closed whatever flows say. */
  readonly closed: BitSet;
  readonly itself: Itself;
}

function reached(access: Access, flows: readonly Flow[], view: View): Extent {
  const sure = weighAll(access, flows, view, 'sure');
  const isOpen = flows.some((flow) => {
    const other = flow[view.other];
    return other.sure !== other.possible || !hasBit(flow[view.own].sure, view.at);
  });
  return { sure, possible: isOpen ? weighAll(access, flows, view, 'possible') : sure };
}

/** Weighs surely against possibly, and the other way round: who may be dropped is not surely reached. */
function weighAll(access: Access, flows: readonly Flow[], view: View, which: keyof Extent): BitSet {
  const { at, own, other } = view;
  const against = which === 'sure' ? 'possible' : 'sure';
  const empty = (): BitSet => new Int32Array((access.ends.ids.length + 31) >>> 5);
  const accepts = flows.filter((flow) => !flow.drop && hasBit(flow[own][which], at));
  const drops = flows.filter((flow) => flow.drop && hasBit(flow[own][against], at));
  const found = empty();
  for (const flow of accepts) addBits(found, flow[other][which]);
  if (drops.length > 0) {
    const dropped = empty();
    for (const drop of drops) addBits(dropped, drop[other][against]);
    dropBits(found, dropped);
    // Whom a drop names is reached all the same when it is about other traffic.
    for (const flow of accepts) {
      const accepted = flow[other][which];
      if (!hasAllBits(found, accepted)) addUndropped(found, flow, accepted, drops, (drop) => drop[other][against]);
    }
  }
  dropBits(found, view.closed);
  if (view.itself === 'left out' && hasBit(found, at)) found[at >>> 5] = (found[at >>> 5] as number) & ~(1 << at);
  return found;
}

/** Adds those of whose accepted traffic something is left. */
function addUndropped(
  found: BitSet,
  flow: Flow,
  accepted: BitSet,
  drops: readonly Flow[],
  droppedBy: (drop: Flow) => BitSet,
): void {
  const whole = drops.filter((drop) => gripOf(drop, flow) === 'whole').map(droppedBy);
  const partial = drops.filter((drop) => gripOf(drop, flow) === 'part');
  const shared = partial.map(({ traffic }) => intersectIntervals(flow.traffic, traffic));
  // What no drop is about passes to all that are left.
  if (partial.length === 0 || subtractIntervals(flow.traffic, joinIntervals(shared.flat())).length > 0) {
    addWithout(found, accepted, whole);
    return;
  }
  const { pieces, parts } = cutTraffic(shared);
  for (const piece of pieces.keys()) {
    const some = partial.filter((_, at) => parts[at]?.includes(piece)).map(droppedBy);
    addWithout(found, accepted, [...whole, ...some]);
  }
}

function addWithout(found: BitSet, accepted: BitSet, dropped: readonly BitSet[]): void {
  for (let at = 0; at < accepted.length; at++) {
    let word = accepted[at] as number;
    if (word === 0) continue;
    for (const set of dropped) word &= ~(set[at] ?? 0);
    found[at] = (found[at] as number) | word;
  }
}

/** How much of the traffic of an accepting flow a dropping one is about. */
type Grip = 'none' | 'part' | 'whole';

const grips = new WeakMap<Flow, WeakMap<Flow, Grip>>();

/** Remembered for as long as both flows live, because every peer between them asks. */
function gripOf(drop: Flow, accept: Flow): Grip {
  const known = grips.get(drop) ?? new WeakMap<Flow, Grip>();
  grips.set(drop, known);
  const present = known.get(accept);
  if (present !== undefined) return present;
  const shared = intersectIntervals(accept.traffic, drop.traffic);
  const grip = shared.length === 0 ? 'none' : subtractIntervals(accept.traffic, shared).length === 0 ? 'whole' : 'part';
  known.set(accept, grip);
  return grip;
}
