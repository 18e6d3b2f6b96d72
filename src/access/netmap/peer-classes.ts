import { type BitSet, hasBit } from '../../lib/bits/bit-set.ts';
import { partition } from '../../lib/bits/partition.ts';
import { servedDestinations } from '../evaluate/neighbours.ts';
import type { AccessImage } from '../ruleset/access.ts';
import { flowAt } from '../ruleset/flows.ts';
import { isFor, type NetmapBuilder } from './netmap-builder.ts';

/**
 * Number of peers that are classified one by one. At this number all peers of the image are classified at once, which
 * takes about as long.
 */
const peersBeforeClassifyingAll = 300;

/**
 * Number of images for which the search for equal peers is skipped after an image in which hardly any two were equal.
 */
const imagesToSkip = 16;

/**
 * Returns the class of a peer. Two peers of one image have the same class only if the shared parts of their maps are
 * equal. Where hardly any two peers are equal, the search is skipped and each peer has its own class.
 */
export function peerClassOf(builder: NetmapBuilder, at: number): string | number {
  const { peerClasses } = builder;
  peerClasses.requestCount += 1;
  if (peerClasses.skippedImages > 0) return at;
  if (peerClasses.requestCount === peersBeforeClassifyingAll) peerClasses.classes = classifyPeers(builder);
  return peerClasses.classes?.[at] ?? classKeyOf(builder, at);
}

/** Decides from the previous image whether to search for equal peers in the next one. */
export function reusePeerClasses(
  { peerClasses: old, shared }: NetmapBuilder,
  { peerClasses: next }: NetmapBuilder,
): void {
  const areDistinct = old.requestCount >= peersBeforeClassifyingAll / 8 && shared.size * 2 > old.requestCount;
  if (old.skippedImages > 0) next.skippedImages = old.skippedImages - 1;
  else if (areDistinct) next.skippedImages = imagesToSkip;
}

/** Returns the class of each peer, by slot. */
function classifyPeers({ access, unmanagedDns, dns }: NetmapBuilder): Int32Array {
  const { flows, guardedRoutes, routedDestinations, live, endpoints } = access;
  const sets = new Set<BitSet>([unmanagedDns.peers, live]);
  for (const { from, to } of flows) sets.add(from.possible).add(from.sure).add(to.possible).add(to.sure);
  for (const { receivers } of guardedRoutes) sets.add(receivers);
  for (const { ways } of routedDestinations.values()) for (const { peers } of ways) sets.add(peers);
  for (const { peers } of dns) sets.add(peers);
  const classes = new Int32Array(endpoints.ids.length);
  for (const [number, members] of partition(endpoints.byType.peer, sets).entries())
    for (const at of members) classes[at] = number;
  return classes;
}

function classKeyOf({ access, unmanagedDns, dns, peerClasses }: NetmapBuilder, at: number): string {
  const marks: number[] = [];
  const { flows } = access;
  const near = peerClasses.flowsByBlock.get(at >>> 5) ?? findFlowsInBlock(access, at >>> 5);
  peerClasses.flowsByBlock.set(at >>> 5, near);
  // A plain loop that creates only numbers: it runs for every peer.
  for (const index of near) {
    const { from, to } = flowAt(flows, index);
    const directionBits =
      (hasBit(from.possible, at) ? 1 : 0) |
      (hasBit(from.sure, at) ? 2 : 0) |
      (hasBit(to.possible, at) ? 4 : 0) |
      (hasBit(to.sure, at) ? 8 : 0);
    if (directionBits !== 0) appendNumbers(marks, index * 16 + directionBits);
  }
  appendNumbers(marks, -1);
  // Two gateways of one destination may belong to different ways to it.
  for (const { slot, destination } of servedDestinations(access, at))
    for (const [nth, { peers }] of destination.ways.entries()) if (hasBit(peers, at)) appendNumbers(marks, slot, nth);
  appendNumbers(marks, -1);
  for (const { slot, receivers } of access.guardedRoutes) if (hasBit(receivers, at)) appendNumbers(marks, slot);
  appendNumbers(marks, -1, isFor(unmanagedDns, at) ? 1 : 0);
  for (const [nth, audience] of dns.entries()) if (isFor(audience, at)) appendNumbers(marks, nth);
  return textOf(marks);
}

/** Returns the positions of the flows that have an endpoint among the 32 slots of one word of the bit sets. */
function findFlowsInBlock({ flows }: AccessImage, word: number): readonly number[] {
  const near: number[] = [];
  // Plain words, no lists: this runs over all flows for each block of 32 slots.
  for (let index = 0; index < flows.length; index++) {
    const { from, to } = flowAt(flows, index);
    const opening = (from.possible[word] ?? 0) | (from.sure[word] ?? 0);
    if ((opening | (to.possible[word] ?? 0) | (to.sure[word] ?? 0)) !== 0) near.push(index);
  }
  return near;
}

/** Appends 32-bit numbers as two 16-bit character codes each. */
function appendNumbers(marks: number[], ...numbers: readonly number[]): void {
  for (const number of numbers) marks.push(number & 0xffff, number >>> 16);
}

/** Maximum number of arguments per call. Engines limit it. */
const maxArguments = 8192;

function textOf(marks: readonly number[]): string {
  let text = '';
  for (let at = 0; at < marks.length; at += maxArguments)
    text += String.fromCharCode(...marks.slice(at, at + maxArguments));
  return text;
}
