import type { Interval } from '../../lib/bits/intervals.ts';
import { freePorts, type IngressProtocol, type PortMapping, transports, usesTransport } from './ingress-ports.ts';
import type { Stored } from './stored.ts';

/**
 * The free ports of an ingress peer, made for thousands of allocations in a row. The cost of an allocation depends on
 * how many numbers it has, not on how many are taken.
 */
export interface PortPool {
  isFree(protocol: IngressProtocol, numbers: Interval): boolean;
  take(protocol: IngressProtocol, pieces: readonly Interval[]): void;
  /** Reverts a `take`. */
  release(protocol: IngressProtocol, pieces: readonly Interval[]): void;
  /**
   * Returns `count` free numbers: the lowest run that is long enough, otherwise pieces from the lowest number up.
   * `undefined` when too few are free.
   */
  findLowestFree(protocol: IngressProtocol, count: number): readonly Interval[] | undefined;
}

/** One bit per transport. A number is free for a protocol when the bits of all its transports are set. */
const bitOf = { tcp: 1, udp: 2 } as const;

function bitsOf(protocol: IngressProtocol): number {
  return transports.reduce((bits, one) => (usesTransport(protocol, one) ? bits | bitOf[one] : bits), 0);
}

/** Creates the pool of the ports that these mappings leave free on an ingress peer. */
export function createPortPool(ingressPeer: Stored<'IngressPeer'>, mappings: readonly PortMapping[]): PortPool {
  const intervals = freePorts(ingressPeer, mappings);
  const end = Math.max(...transports.map((one) => intervals[one].at(-1)?.end ?? -1)) + 1;
  const free = new Uint8Array(end);
  /** Number of free ports, by the bits of a protocol. */
  const counts = [0, 0, 0, 0];
  /** By bits and length: position at which the search for a run continues. No such run begins before it. */
  const cursors = new Map<string, { readonly bits: number; readonly count: number; at: number }>();
  const isFreeAt = (at: number, bits: number): boolean => ((free[at] ?? 0) & bits) === bits;
  const set = (at: number, after: number): void => {
    const before = free[at] ?? 0;
    free[at] = after;
    for (const bits of [1, 2, 3])
      counts[bits] = (counts[bits] ?? 0) + Number((after & bits) === bits) - Number((before & bits) === bits);
  };
  const change = (pieces: readonly Interval[], edit: (before: number) => number): void => {
    for (const piece of pieces) for (let at = piece.start; at <= piece.end; at++) set(at, edit(free[at] ?? 0));
  };
  const cursorOf = (bits: number, count: number) => {
    const key = `${bits}/${count}`;
    const cursor = cursors.get(key) ?? { bits, count, at: 0 };
    cursors.set(key, cursor);
    return cursor;
  };
  /** Returns the start of the lowest run of `count` free numbers; `end` when there is none. */
  const findRun = (bits: number, count: number): number => {
    const cursor = cursorOf(bits, count);
    let start = cursor.at;
    for (let at = start; at < end && at - start < count; at++) if (!isFreeAt(at, bits)) start = at + 1;
    cursor.at = end - start < count ? end : start;
    return cursor.at;
  };
  for (const one of transports) change(intervals[one], (before) => before | bitOf[one]);
  return {
    isFree(protocol, numbers) {
      const bits = bitsOf(protocol);
      for (let at = numbers.start; at <= numbers.end; at++) if (!isFreeAt(at, bits)) return false;
      return true;
    },
    take(protocol, pieces) {
      const bits = bitsOf(protocol);
      change(pieces, (before) => before & ~bits);
    },
    release(protocol, pieces) {
      const bits = bitsOf(protocol);
      change(pieces, (before) => before | bits);
      for (const cursor of cursors.values())
        for (const { start } of pieces) cursor.at = Math.min(cursor.at, Math.max(0, start - cursor.count + 1));
    },
    findLowestFree(protocol, count) {
      const bits = bitsOf(protocol);
      if ((counts[bits] ?? 0) < count) return undefined;
      const run = findRun(bits, count);
      if (run < end) return [{ start: run, end: run + count - 1 }];
      const pieces: { readonly start: number; end: number }[] = [];
      let missing = count;
      for (let at = findRun(bits, 1); missing > 0; at++) {
        if (!isFreeAt(at, bits)) continue;
        const last = pieces.at(-1);
        if (last?.end === at - 1) last.end = at;
        else pieces.push({ start: at, end: at });
        missing -= 1;
      }
      return pieces;
    },
  };
}
