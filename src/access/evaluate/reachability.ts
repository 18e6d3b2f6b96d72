import type { BitProjection } from '../../lib/bits/bit-projection.ts';
import { addAllBits, type BitSet, dropBits, hasBit, noBits } from '../../lib/bits/bit-set.ts';
import type { Access } from '../ruleset/access.ts';
import { type EndpointSets, endpointsOf, type Flow, flowAt, sideOf } from '../ruleset/flows.ts';
import { peersWithoutRoute, withheldRoutes } from './layers.ts';
import { cutByDrops, gatherDrops, isDenyAll } from './overlap.ts';

/**
 * Returns the positions of the flows that apply to an endpoint, as source (`from`) or as destination (`to`) of
 * connections.
 */
export function flowsAbout({ flows }: Access, at: number, own: 'from' | 'to'): readonly number[] {
  const found: number[] = [];
  // A plain loop without computed property names, because it runs for every peer over every flow.
  if (own === 'from') {
    for (let nth = 0; nth < flows.length; nth++) if (hasBit(flowAt(flows, nth).from.possible, at)) found.push(nth);
  } else {
    for (let nth = 0; nth < flows.length; nth++) if (hasBit(flowAt(flows, nth).to.possible, at)) found.push(nth);
  }
  return found;
}

/** Whether an endpoint may occur in its own result. `as another` is for results that equivalent peers share. */
export type Itself = 'left out' | 'as another';

/**
 * Returns the endpoints to which a peer may open some connection, after weighing drops. The peer itself is left out.
 */
export function reachedFrom(access: Access, at: number): EndpointSets {
  const view = viewFrom(access, at, { itself: 'left out' });
  const about = flowsIn(access, flowsAbout(access, at, 'from'));
  const sure = weighAll(access, about, view, 'sure');
  const isOpen = about.some(({ from, to }) => to.sure !== to.possible || !hasBit(from.sure, at));
  return { sure, possible: isOpen ? weighAll(access, about, view, 'possible') : sure };
}

/** Options for weighing: which endpoints to consider, and whether to include the endpoint itself. */
export interface ReachOptions {
  readonly itself: Itself;
  /** Restricts the weighing to some endpoints. The result is then a projected set. */
  readonly projection?: BitProjection;
}

/**
 * Returns the endpoints to which a peer may certainly open some connection, after weighing drops. `about` are the flows
 * that apply to it.
 */
export function surelyReachedFrom(
  access: Access,
  at: number,
  about: readonly Flow[] = flowsIn(access, flowsAbout(access, at, 'from')),
  options: ReachOptions = { itself: 'left out' },
): BitSet {
  return weighAll(access, about, viewFrom(access, at, options), 'sure');
}

/**
 * Returns the peers that may certainly open some connection to an endpoint, after weighing drops. `about` are the flows
 * that apply to it.
 */
export function surelyReachedTo(
  access: Access,
  at: number,
  about: readonly Flow[] = flowsIn(access, flowsAbout(access, at, 'to')),
  options: ReachOptions = { itself: 'left out' },
): BitSet {
  return weighAll(
    access,
    about,
    { at, own: 'to', other: 'from', closed: peersWithoutRoute(access, at), ...options },
    'sure',
  );
}

/** Returns the flows at these positions. */
export function flowsIn({ flows }: Access, indexes: readonly number[]): readonly Flow[] {
  return indexes.map((nth) => flowAt(flows, nth));
}

interface View extends ReachOptions {
  readonly at: number;
  readonly own: 'from' | 'to';
  readonly other: 'from' | 'to';
  /** Endpoints that are closed whatever the flows are. */
  readonly closed: BitSet;
}

function viewFrom(access: Access, at: number, options: ReachOptions): View {
  return { at, own: 'from', other: 'to', closed: withheldRoutes(access, at), ...options };
}

/**
 * Weighs certain accepts against possible drops (`sure`), or possible accepts against certain drops (`possible`): an
 * endpoint that may be dropped is not certainly reached.
 */
function weighAll(access: Access, flows: readonly Flow[], view: View, which: keyof EndpointSets): BitSet {
  const { at, own, other, projection } = view;
  const see = (set: BitSet): BitSet => (projection === undefined ? set : projection.project(set));
  const against = which === 'sure' ? 'possible' : 'sure';
  const drops = flows.filter((flow) => flow.drop && hasBit(endpointsOf(sideOf(flow, own), against), at));
  const dropsOf = gatherDrops(access, drops);
  const free: BitSet[] = [];
  const held = new Map<string, Held>();
  for (const flow of flows) {
    if (flow.drop || !hasBit(endpointsOf(sideOf(flow, own), which), at)) continue;
    const some = dropsOf.get(flow.trafficKey);
    const accepted = see(endpointsOf(sideOf(flow, other), which));
    if (some === undefined) free.push(accepted);
    else hold(held, flow, some, accepted);
  }
  const words = projection?.words ?? (access.endpoints.ids.length + 31) >>> 5;
  const found: BitSet = new Int32Array(words);
  addAllBits(found, free);
  const accepted: BitSet = held.size === 0 ? noBits : new Int32Array(words);
  for (const { flow, drops: some, sets } of held.values()) {
    accepted.fill(0);
    addAllBits(accepted, sets);
    for (const piece of cutByDrops(access, flow, some)) {
      const dropped = piece.map((drop) => see(endpointsOf(sideOf(drop, other), against)));
      addWithout(found, accepted, dropped);
    }
  }
  for (const drop of drops) if (isDenyAll(drop)) dropBits(found, see(endpointsOf(sideOf(drop, other), against)));
  if (view.closed.length > 0) dropBits(found, see(view.closed));
  if (view.itself === 'left out' && hasBit(found, at)) found[at >>> 5] = (found[at >>> 5] ?? 0) & ~(1 << at);
  return found;
}

/** Accepting flows of the same traffic, a part of which is dropped. */
interface Held {
  /** Any of these flows. */
  readonly flow: Flow;
  readonly drops: readonly Flow[];
  readonly sets: BitSet[];
}

function hold(held: Map<string, Held>, flow: Flow, drops: readonly Flow[], accepted: BitSet): void {
  const known = held.get(flow.trafficKey);
  if (known === undefined) held.set(flow.trafficKey, { flow, drops, sets: [accepted] });
  else known.sets.push(accepted);
}

function addWithout(found: BitSet, accepted: BitSet, dropped: readonly BitSet[]): void {
  for (let at = 0; at < accepted.length; at++) {
    let word = accepted[at] ?? 0;
    if (word === 0) continue;
    for (const set of dropped) word &= ~(set[at] ?? 0);
    found[at] = (found[at] ?? 0) | word;
  }
}
