import { addAllBits, type BitSet, dropBits, hasBit } from '../lib/bit-set.ts';
import type { Access } from './access.ts';
import type { Extent, Flow } from './flows.ts';
import { cutByDrops, gatherDrops, isSweeping } from './grips.ts';
import { closedGates, shutOut } from './line.ts';

/** Finds the flows that speak about an end, as one that opens connections or as one that is reached; as places in the list. */
export function flowsAbout({ flows }: Access, at: number, own: 'from' | 'to'): readonly number[] {
  const found: number[] = [];
  // A plain loop without names that vary: it runs for every peer over every flow.
  if (own === 'from') {
    for (let nth = 0; nth < flows.length; nth++) if (hasBit((flows[nth] as Flow).from.possible, at)) found.push(nth);
  } else {
    for (let nth = 0; nth < flows.length; nth++) if (hasBit((flows[nth] as Flow).to.possible, at)) found.push(nth);
  }
  return found;
}

/** Whether an end counts as another of its own kind: what peers that are alike have in common may name themselves. */
export type Itself = 'left out' | 'as another';

/** What a peer may open some connection to, drops weighed; not itself. */
export function reachedFrom(access: Access, at: number): Extent {
  const view = viewFrom(access, at, 'left out');
  const about = flowsAbout(access, at, 'from');
  const sure = weighAll(access, about, view, 'sure');
  const isOpen = about.some((nth) => {
    const { from, to } = access.flows[nth] as Flow;
    return to.sure !== to.possible || !hasBit(from.sure, at);
  });
  return { sure, possible: isOpen ? weighAll(access, about, view, 'possible') : sure };
}

/** What a peer may surely open some connection to, drops weighed; not itself unless asked for. */
export function surelyReachedFrom(
  access: Access,
  at: number,
  about: readonly number[] = flowsAbout(access, at, 'from'),
  itself: Itself = 'left out',
): BitSet {
  return weighAll(access, about, viewFrom(access, at, itself), 'sure');
}

/** Peers that may surely open some connection to an end, drops weighed; not itself unless asked for. */
export function surelyReachedTo(
  access: Access,
  at: number,
  about: readonly number[] = flowsAbout(access, at, 'to'),
  itself: Itself = 'left out',
): BitSet {
  return weighAll(access, about, { at, own: 'to', other: 'from', closed: shutOut(access, at), itself }, 'sure');
}

interface View {
  readonly at: number;
  readonly own: 'from' | 'to';
  readonly other: 'from' | 'to';
  /** Ends that are closed whatever flows say. */
  readonly closed: BitSet;
  readonly itself: Itself;
}

function viewFrom(access: Access, at: number, itself: Itself): View {
  return { at, own: 'from', other: 'to', closed: closedGates(access, at), itself };
}

/** Weighs surely against possibly, and the other way round: who may be dropped is not surely reached. */
function weighAll(access: Access, about: readonly number[], view: View, which: keyof Extent): BitSet {
  const { at, own, other } = view;
  const against = which === 'sure' ? 'possible' : 'sure';
  const flows = about.map((nth) => access.flows[nth] as Flow);
  const drops = flows.filter((flow) => flow.drop && hasBit(flow[own][against], at));
  const dropsOf = gatherDrops(access, drops);
  const free: BitSet[] = [];
  const held = new Map<string, Held>();
  for (const flow of flows) {
    if (flow.drop || !hasBit(flow[own][which], at)) continue;
    const some = dropsOf.get(flow.trafficKey);
    const accepted = flow[other][which];
    if (some === undefined) free.push(accepted);
    else hold(held, flow, some, accepted);
  }
  const found = emptyFor(access);
  addAllBits(found, free);
  for (const { flow, drops: some, sets } of held.values()) {
    const accepted = emptyFor(access);
    addAllBits(accepted, sets);
    for (const piece of cutByDrops(flow.traffic, some))
      addWithout(
        found,
        accepted,
        piece.map((drop) => drop[other][against]),
      );
  }
  for (const drop of drops) if (isSweeping(drop)) dropBits(found, drop[other][against]);
  dropBits(found, view.closed);
  if (view.itself === 'left out' && hasBit(found, at)) found[at >>> 5] = (found[at >>> 5] as number) & ~(1 << at);
  return found;
}

/** Accepting flows of the same traffic, of which something is dropped. */
interface Held {
  /** One of them. */
  readonly flow: Flow;
  readonly drops: readonly Flow[];
  readonly sets: BitSet[];
}

function hold(held: Map<string, Held>, flow: Flow, drops: readonly Flow[], accepted: BitSet): void {
  const known = held.get(flow.trafficKey);
  if (known === undefined) held.set(flow.trafficKey, { flow, drops, sets: [accepted] });
  else known.sets.push(accepted);
}

function emptyFor({ ends }: Access): BitSet {
  return new Int32Array((ends.ids.length + 31) >>> 5);
}

function addWithout(found: BitSet, accepted: BitSet, dropped: readonly BitSet[]): void {
  for (let at = 0; at < accepted.length; at++) {
    let word = accepted[at] as number;
    if (word === 0) continue;
    for (const set of dropped) word &= ~(set[at] ?? 0);
    found[at] = (found[at] as number) | word;
  }
}
