import type { BitProjection } from '../../lib/bits/bit-projection.ts';
import { addAllBits, type BitSet, dropBits, hasBit, noBits } from '../../lib/bits/bit-set.ts';
import type { AccessImage } from '../ruleset/access.ts';
import { type EndpointSets, endpointsOf, type Flow, flowAt, sideOf } from '../ruleset/flows.ts';
import { peersWithoutRoute, withheldRoutes } from './layers.ts';
import { cutByDrops, gatherDrops, isDenyAll } from './overlap.ts';

/**
 * Returns the positions of the flows that apply to an endpoint, as source (`from`) or as destination (`to`) of
 * connections.
 */
export function findFlowIndexes({ flows }: AccessImage, at: number, own: 'from' | 'to'): readonly number[] {
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
export type SelfInclusion = 'left out' | 'as another';

/**
 * Returns the endpoints to which a peer may open some connection, after weighing drops. The peer itself is left out.
 */
export function reachedFrom(access: AccessImage, at: number): EndpointSets {
  const view = viewFrom(access, at, { selfInclusion: 'left out' });
  const about = flowsAt(access, findFlowIndexes(access, at, 'from'));
  const sure = weighFlows(access, about, view, 'sure');
  const isOpen = about.some(({ from, to }) => to.sure !== to.possible || !hasBit(from.sure, at));
  return { sure, possible: isOpen ? weighFlows(access, about, view, 'possible') : sure };
}

/** Options for weighing: which endpoints to consider, and whether to include the endpoint itself. */
export interface ReachOptions {
  readonly selfInclusion: SelfInclusion;
  /** Restricts the weighing to some endpoints. The result is then a projected set. */
  readonly projection?: BitProjection;
}

/**
 * Returns the endpoints to which a peer may certainly open some connection, after weighing drops. `about` are the flows
 * that apply to it.
 */
export function surelyReachedFrom(
  access: AccessImage,
  at: number,
  about: readonly Flow[] = flowsAt(access, findFlowIndexes(access, at, 'from')),
  options: ReachOptions = { selfInclusion: 'left out' },
): BitSet {
  return weighFlows(access, about, viewFrom(access, at, options), 'sure');
}

/**
 * Returns the peers that may certainly open some connection to an endpoint, after weighing drops. `about` are the flows
 * that apply to it.
 */
export function surelyReachedTo(
  access: AccessImage,
  at: number,
  about: readonly Flow[] = flowsAt(access, findFlowIndexes(access, at, 'to')),
  options: ReachOptions = { selfInclusion: 'left out' },
): BitSet {
  return weighFlows(
    access,
    about,
    { at, own: 'to', other: 'from', closed: peersWithoutRoute(access, at), ...options },
    'sure',
  );
}

/** Returns the flows at these positions. */
export function flowsAt({ flows }: AccessImage, indexes: readonly number[]): readonly Flow[] {
  return indexes.map((nth) => flowAt(flows, nth));
}

interface View extends ReachOptions {
  readonly at: number;
  readonly own: 'from' | 'to';
  readonly other: 'from' | 'to';
  /** Endpoints that are closed whatever the flows are. */
  readonly closed: BitSet;
}

function viewFrom(access: AccessImage, at: number, options: ReachOptions): View {
  return { at, own: 'from', other: 'to', closed: withheldRoutes(access, at), ...options };
}

/**
 * Weighs certain accepts against possible drops (`sure`), or possible accepts against certain drops (`possible`): an
 * endpoint that may be dropped is not certainly reached.
 */
function weighFlows(access: AccessImage, flows: readonly Flow[], view: View, which: keyof EndpointSets): BitSet {
  const { at, own, other, projection } = view;
  const see = (set: BitSet): BitSet => (projection === undefined ? set : projection.project(set));
  const against = which === 'sure' ? 'possible' : 'sure';
  const drops = flows.filter((flow) => flow.drop && hasBit(endpointsOf(sideOf(flow, own), against), at));
  const dropsOf = gatherDrops(access, drops);
  const free: BitSet[] = [];
  const held = new Map<string, PartlyDroppedFlows>();
  for (const flow of flows) {
    if (flow.drop || !hasBit(endpointsOf(sideOf(flow, own), which), at)) continue;
    const some = dropsOf.get(flow.trafficKey);
    const accepted = see(endpointsOf(sideOf(flow, other), which));
    if (some === undefined) free.push(accepted);
    else addPartlyDropped(held, flow, some, accepted);
  }
  const words = projection?.wordCount ?? (access.endpoints.ids.length + 31) >>> 5;
  const found: BitSet = new Int32Array(words);
  addAllBits(found, free);
  const accepted: BitSet = held.size === 0 ? noBits : new Int32Array(words);
  for (const { flow, drops: some, sets } of held.values()) {
    accepted.fill(0);
    addAllBits(accepted, sets);
    for (const piece of cutByDrops(access, flow, some)) {
      const dropped = piece.map((drop) => see(endpointsOf(sideOf(drop, other), against)));
      addUndropped(found, accepted, dropped);
    }
  }
  for (const drop of drops) if (isDenyAll(drop)) dropBits(found, see(endpointsOf(sideOf(drop, other), against)));
  if (view.closed.length > 0) dropBits(found, see(view.closed));
  if (view.selfInclusion === 'left out' && hasBit(found, at)) found[at >>> 5] = (found[at >>> 5] ?? 0) & ~(1 << at);
  return found;
}

/** Accepting flows of the same traffic, a part of which is dropped. */
interface PartlyDroppedFlows {
  /** Any of these flows. */
  readonly flow: Flow;
  readonly drops: readonly Flow[];
  readonly sets: BitSet[];
}

function addPartlyDropped(
  held: Map<string, PartlyDroppedFlows>,
  flow: Flow,
  drops: readonly Flow[],
  accepted: BitSet,
): void {
  const known = held.get(flow.trafficKey);
  if (known === undefined) held.set(flow.trafficKey, { flow, drops, sets: [accepted] });
  else known.sets.push(accepted);
}

function addUndropped(found: BitSet, accepted: BitSet, dropped: readonly BitSet[]): void {
  for (let at = 0; at < accepted.length; at++) {
    let word = accepted[at] ?? 0;
    if (word === 0) continue;
    for (const set of dropped) word &= ~(set[at] ?? 0);
    found[at] = (found[at] ?? 0) | word;
  }
}
