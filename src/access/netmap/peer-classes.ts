import { type BitSet, hasBit } from '../../lib/bits/bit-set.ts';
import { partition } from '../../lib/bits/partition.ts';
import { servedDestinations } from '../evaluate/neighbours.ts';
import type { Access } from '../ruleset/access.ts';
import { flowAt } from '../ruleset/flows.ts';
import { isFor, type NetmapBuilder } from './netmap-builder.ts';

/** How many peers are asked about one by one before it is worked out for all of an image at once, which takes as long. */
const fewPeers = 300;

/** For how many images the search for equal peers is skipped after hardly any two were equal. */
const imagesToSkip = 16;

/**
 * A class that two peers of one image have in common only if their maps share a part. Where hardly any two peers are
 * alike, the search is skipped: then each peer has a class of its own.
 */
export function peerClassOf(builder: NetmapBuilder, at: number): string | number {
  const { peerClasses } = builder;
  peerClasses.asked += 1;
  if (peerClasses.skippedImages > 0) return at;
  if (peerClasses.asked === fewPeers) peerClasses.classes = classesOf(builder);
  return peerClasses.classes?.[at] ?? markedBy(builder, at);
}

/** Learns from the image before whether it is worth while to look for peers that are alike. */
export function reusePeerClasses(
  { peerClasses: old, shared }: NetmapBuilder,
  { peerClasses: next }: NetmapBuilder,
): void {
  const areDistinct = old.asked >= fewPeers / 8 && shared.size * 2 > old.asked;
  if (old.skippedImages > 0) next.skippedImages = old.skippedImages - 1;
  else if (areDistinct) next.skippedImages = imagesToSkip;
}

/** By slot: which class of peers that are alike each one is of. */
function classesOf({ access, unmanaged, dns }: NetmapBuilder): Int32Array {
  const { flows, guardedRoutes, routedDestinations, live, endpoints } = access;
  const sets = new Set<BitSet>([unmanaged.peers, live]);
  for (const { from, to } of flows) sets.add(from.possible).add(from.sure).add(to.possible).add(to.sure);
  for (const { receivers } of guardedRoutes) sets.add(receivers);
  for (const { ways } of routedDestinations.values()) for (const { peers } of ways) sets.add(peers);
  for (const { peers } of dns) sets.add(peers);
  const classes = new Int32Array(endpoints.ids.length);
  for (const [number, members] of partition(endpoints.of.peer, sets).entries())
    for (const at of members) classes[at] = number;
  return classes;
}

function markedBy({ access, unmanaged, dns, peerClasses }: NetmapBuilder, at: number): string {
  const marks: number[] = [];
  const { flows } = access;
  const near = peerClasses.near.get(at >>> 5) ?? nearFlows(access, at >>> 5);
  peerClasses.near.set(at >>> 5, near);
  // A plain loop that makes nothing but numbers: it runs for every peer.
  for (const index of near) {
    const { from, to } = flowAt(flows, index);
    const directionBits =
      (hasBit(from.possible, at) ? 1 : 0) |
      (hasBit(from.sure, at) ? 2 : 0) |
      (hasBit(to.possible, at) ? 4 : 0) |
      (hasBit(to.sure, at) ? 8 : 0);
    if (directionBits !== 0) mark(marks, index * 16 + directionBits);
  }
  mark(marks, -1);
  // Two gateways of a destination may stand in other ways to it.
  for (const { at: slot, destination } of servedDestinations(access, at))
    for (const [nth, { peers }] of destination.ways.entries()) if (hasBit(peers, at)) mark(marks, slot, nth);
  mark(marks, -1);
  for (const { slot, receivers } of access.guardedRoutes) if (hasBit(receivers, at)) mark(marks, slot);
  mark(marks, -1, isFor(unmanaged, at) ? 1 : 0);
  for (const [nth, audience] of dns.entries()) if (isFor(audience, at)) mark(marks, nth);
  return textOf(marks);
}

/** The flows that have an end among the 32 peers whose numbers lie next to each other, by their places. */
function nearFlows({ flows }: Access, word: number): readonly number[] {
  const near: number[] = [];
  // Plain words, no lists: this runs for all flows, for every few peers that are asked about.
  for (let index = 0; index < flows.length; index++) {
    const { from, to } = flowAt(flows, index);
    const opening = (from.possible[word] ?? 0) | (from.sure[word] ?? 0);
    if ((opening | (to.possible[word] ?? 0) | (to.sure[word] ?? 0)) !== 0) near.push(index);
  }
  return near;
}

/** Puts numbers of 32 bits as two characters each. */
function mark(marks: number[], ...numbers: readonly number[]): void {
  for (const number of numbers) marks.push(number & 0xffff, number >>> 16);
}

/** More arguments than this at once may be too many. */
const mostArguments = 8192;

function textOf(marks: readonly number[]): string {
  let text = '';
  for (let at = 0; at < marks.length; at += mostArguments)
    text += String.fromCharCode(...marks.slice(at, at + mostArguments));
  return text;
}
