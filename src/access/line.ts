import { addBits, type BitSet, bitsOf, dropBits, hasBit, noBits, uniteBits } from '../lib/bit-set.ts';
import { joinIntervals, subtractIntervals } from '../lib/intervals.ts';
import type { Access } from './access.ts';
import type { Extent, Flow } from './flows.ts';
import { cutTraffic } from './pieces.ts';
import type { Traffic } from './traffic.ts';

/** What flows of equal traffic say together about the ends on the other side. */
export interface Layer extends Extent {
  readonly traffic: Traffic;
  readonly key: string;
}

/** Everything that is said about one end, on one side of its connections, before drops are weighed against accepts. */
export interface Line {
  readonly accepts: readonly Layer[];
  readonly drops: readonly Layer[];
}

/** What a peer may open connections to. */
export function lineFrom(access: Access, at: number): Line {
  const from = access.flows.filter((flow) => hasBit(flow.from.possible, at));
  return buildLine(
    from.map((flow) => [flow, flow.from, flow.to] as const),
    at,
    closedGates(access, at),
  );
}

/** Who may open connections to an end. */
export function lineTo(access: Access, at: number): Line {
  const to = access.flows.filter((flow) => hasBit(flow.to.possible, at));
  return buildLine(
    to.map((flow) => [flow, flow.to, flow.from] as const),
    at,
    shutOut(access, at),
  );
}

/** The other ends with which some traffic passes, drops weighed. */
export function reachedBy({ accepts, drops }: Line): Extent {
  const all = { sure: unite(accepts, 'sure'), possible: unite(accepts, 'possible') };
  if (drops.length === 0) return all;
  const { parts } = cutTraffic([...accepts, ...drops].map(({ traffic }) => traffic));
  const acceptsOf = layersByPiece(accepts, parts);
  const dropsOf = layersByPiece(drops, parts.slice(accepts.length));
  const sure = new Int32Array(all.possible.length);
  const possible = new Int32Array(all.possible.length);
  for (const [piece, layers] of acceptsOf) {
    const weighed = weigh(layers, dropsOf.get(piece) ?? []);
    addBits(sure, weighed.sure);
    addBits(possible, weighed.possible);
  }
  return { sure, possible };
}

/** Drops win: sure is what is surely accepted and can not be dropped, possible what may be accepted and is not surely dropped. */
export function weigh(accepts: readonly Extent[], drops: readonly Extent[]): Extent {
  const [sure, possible] = [unite(accepts, 'sure'), unite(accepts, 'possible')];
  for (const drop of drops) {
    dropBits(sure, drop.possible);
    dropBits(possible, drop.sure);
  }
  return { sure, possible };
}

/** The traffic that passes between the line's end and another one. */
export function trafficWith(line: Line, other: number): { readonly sure: Traffic; readonly possible: Traffic } {
  const named = (layers: readonly Layer[], which: keyof Extent) =>
    joinIntervals(layers.filter((layer) => hasBit(layer[which], other)).flatMap(({ traffic }) => traffic));
  return {
    sure: subtractIntervals(named(line.accepts, 'sure'), named(line.drops, 'possible')),
    possible: subtractIntervals(named(line.accepts, 'possible'), named(line.drops, 'sure')),
  };
}

/** Which layers speak about each piece. */
export function layersByPiece(
  layers: readonly Layer[],
  parts: readonly (readonly number[])[],
): ReadonlyMap<number, readonly Layer[]> {
  const found = new Map<number, Layer[]>();
  for (const [at, layer] of layers.entries()) {
    for (const piece of parts[at] ?? []) {
      const present = found.get(piece);
      if (present === undefined) found.set(piece, [layer]);
      else present.push(layer);
    }
  }
  return found;
}

type Spoken = readonly [flow: Flow, own: Extent, other: Extent];

/** Gathers flows of equal traffic; without the ends in `closed`. */
function buildLine(spoken: readonly Spoken[], at: number, closed: BitSet): Line {
  const gathered = { accepts: new Map<string, Spoken[]>(), drops: new Map<string, Spoken[]>() };
  for (const one of spoken) {
    const layers = one[0].drop ? gathered.drops : gathered.accepts;
    const present = layers.get(one[0].trafficKey);
    if (present === undefined) layers.set(one[0].trafficKey, [one]);
    else present.push(one);
  }
  const layersOf = (layers: ReadonlyMap<string, readonly Spoken[]>) =>
    [...layers].map(([key, list]) => buildLayer(key, list, at, closed));
  return { accepts: layersOf(gathered.accepts), drops: layersOf(gathered.drops) };
}

function buildLayer(key: string, list: readonly Spoken[], at: number, closed: BitSet): Layer {
  const traffic = (list[0] as Spoken)[0].traffic;
  const isOpen = list.some(([, own, other]) => other.sure !== other.possible || !hasBit(own.sure, at));
  const possible = uniteBits(...list.map(([, , other]) => other.possible));
  dropBits(possible, closed);
  if (!isOpen) return { traffic, key, sure: possible, possible };
  const sure = uniteBits(...list.filter(([, own]) => hasBit(own.sure, at)).map(([, , other]) => other.sure));
  dropBits(sure, closed);
  return { traffic, key, sure, possible };
}

/** Guarded routes that are not handed to a peer, whatever policies say. */
export function closedGates({ gates }: Access, at: number): BitSet {
  const closed = gates.filter(({ receivers }) => !hasBit(receivers, at)).map(({ place }) => place);
  return closed.length === 0 ? noBits : bitsOf(closed);
}

/** Peers to which a guarded route is not handed, whatever policies say. */
function shutOut({ gates, ends }: Access, at: number): BitSet {
  const gate = gates.find(({ place }) => place === at);
  if (gate === undefined) return noBits;
  const others = ends.of.peer.slice();
  dropBits(others, gate.receivers);
  return others;
}

/** A fresh set, which may be changed. */
function unite(extents: readonly Extent[], which: keyof Extent): BitSet {
  return uniteBits(...extents.map((extent) => extent[which]));
}
