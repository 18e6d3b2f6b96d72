import { numbersIn } from '../../lib/bits/bit-set.ts';
import type { Interval } from '../../lib/bits/intervals.ts';
import type { Traffic } from './traffic.ts';

/** A partition of traffic in which each given traffic consists of whole pieces, with as few pieces as possible. */
export interface TrafficPartition {
  readonly pieces: readonly Traffic[];
  /** Pieces of each given traffic. */
  readonly piecesByTraffic: readonly (readonly number[])[];
}

/** Partitions everything that the given traffic covers. */
export function partitionTraffic(given: readonly Traffic[]): TrafficPartition {
  const edges = edgesOf(given);
  const found = new Map<string, { readonly covering: readonly number[]; readonly intervals: Interval[] }>();
  const open = new Int32Array((given.length >>> 5) + 1);
  for (const [at, { position, turns }] of edges.entries()) {
    for (const index of turns) open[index >>> 5] = (open[index >>> 5] ?? 0) ^ (1 << index);
    const end = (edges[at + 1]?.position ?? position) - 1;
    const covering = numbersIn(open);
    if (covering.length === 0) continue;
    const key = covering.join();
    const piece = found.get(key) ?? { covering, intervals: [] };
    piece.intervals.push({ start: position, end });
    found.set(key, piece);
  }
  const parts = given.map((): number[] => []);
  for (const [at, { covering }] of [...found.values()].entries()) for (const index of covering) parts[index]?.push(at);
  return { pieces: [...found.values()].map(({ intervals }) => intervals), piecesByTraffic: parts };
}

/** Returns the positions where traffic begins or ends, in ascending order, with the indexes of that traffic. */
function edgesOf(
  given: readonly Traffic[],
): readonly { readonly position: number; readonly turns: readonly number[] }[] {
  const turns = new Map<number, number[]>();
  const turn = (position: number, index: number) => {
    const present = turns.get(position);
    if (present === undefined) turns.set(position, [index]);
    else present.push(index);
  };
  for (const [index, traffic] of given.entries()) {
    for (const { start, end } of traffic) {
      turn(start, index);
      turn(end + 1, index);
    }
  }
  return [...turns].map(([position, list]) => ({ position, turns: list })).sort((a, b) => a.position - b.position);
}
