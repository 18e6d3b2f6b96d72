import { type Interval, joinIntervals, subtractIntervals } from '../../lib/bits/intervals.ts';
import type { Protocol, Rule } from '../ruleset/object-readers.ts';

/**
 * What passes between two ends, as numbers on one line: each port of each protocol is one, and so are ICMP and the rest.
 * So traffic is united, intersected and subtracted as intervals are.
 */
export type Traffic = readonly Interval[];

/**
 * Where each protocol begins. `ssh` is logging in by the SSH server of the mesh; it takes place on TCP, so what lets it
 * through lets through TCP on the same ports, and what drops TCP drops it.
 */
const places = { tcp: 0, udp: 0x2_0000, ssh: 0x4_0000 } as const;
const icmp: Interval = { start: 0x6_0001, end: 0x6_0001 };
/** Protocols without a name here. */
const rest: Interval = { start: 0x6_0003, end: 0x6_0003 };

type WithPorts = keyof typeof places;

const allPorts: Traffic = [{ start: 1, end: 0xffff }];
const sshPorts: Traffic = [{ start: 22, end: 22 }];

/** Nothing. */
export const noTraffic: Traffic = [];

/** Everything. */
export const allTraffic: Traffic = [at('tcp', allPorts), at('udp', allPorts), at('ssh', allPorts), [icmp, rest]].flat();

/** The traffic that a rule is about. */
export function trafficOf({ action, protocol, ports }: Pick<Rule, 'action' | 'protocol' | 'ports'>): Traffic {
  switch (protocol) {
    case 'all':
      return allTraffic;
    case 'icmp':
      return [icmp];
    case 'udp':
      return at('udp', given(ports, allPorts));
    case 'tcp': {
      const chosen = given(ports, allPorts);
      return action === 'drop' ? [...at('tcp', chosen), ...at('ssh', chosen)] : at('tcp', chosen);
    }
    case 'ssh': {
      const chosen = given(ports, sshPorts);
      return [...at('tcp', chosen), ...at('ssh', chosen)];
    }
    default:
      return protocol satisfies never;
  }
}

/** The traffic that a question is about; without ports it is about all of them, for `ssh` about its usual one. */
export function trafficAsked(protocol: Protocol, ports: readonly Interval[] = []): Traffic {
  if (protocol === 'ssh') return at('ssh', given(ports, sshPorts));
  return trafficOf({ action: 'accept', protocol, ports });
}

/** Reads ports such as `443` or `8000-8010`; `undefined` when the text says something else. */
export function parsePorts(text: string): readonly Interval[] | undefined {
  const [, first, last = first] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text) ?? [];
  const [start, end] = [Number(first), Number(last)];
  return start >= 1 && start <= end && end <= 0xffff ? [{ start, end }] : undefined;
}

/** Equal for equal traffic. */
export function trafficKey(traffic: Traffic): string {
  return traffic.map(({ start, end }) => (start === end ? `${start}` : `${start}-${end}`)).join();
}

/** A piece of traffic for people; without ports it is all of the protocol. */
interface TrafficPart {
  readonly protocol: Protocol | 'other';
  readonly start?: number;
  readonly end?: number;
}

/** The traffic in pieces, protocol by protocol; one piece `all` when it is everything. */
function trafficParts(traffic: Traffic): readonly TrafficPart[] {
  if (trafficKey(traffic) === allKey) return [{ protocol: 'all' }];
  return [
    ...portsOf('tcp', traffic),
    ...portsOf('udp', traffic),
    ...portsOf('ssh', traffic),
    ...(has(traffic, icmp) ? [{ protocol: 'icmp' as const }] : []),
    ...(has(traffic, rest) ? [{ protocol: 'other' as const }] : []),
  ];
}

/** Traffic that passes as text, such as `tcp/443, udp` or `all except tcp/22`: with SSH there is TCP on its ports. */
export function trafficText(traffic: Traffic): string {
  return textOf(traffic, passing, missing);
}

/** Traffic that does not pass, or not any more, as text: without TCP there is no SSH on its ports. */
export function missingText(traffic: Traffic): string {
  return textOf(traffic, missing, passing);
}

/** What need not be said of a protocol, because another one says it too. */
interface Implication {
  readonly implied: WithPorts;
  readonly by: WithPorts;
}

const passing: Implication = { implied: 'tcp', by: 'ssh' };
const missing: Implication = { implied: 'ssh', by: 'tcp' };

function textOf(traffic: Traffic, within: Implication, without: Implication): string {
  if (traffic.length === 0) return 'nothing';
  if (!has(traffic, rest)) return partTexts(leaveOut(trafficParts(traffic), within));
  const others = leaveOut(trafficParts(subtractIntervals(allTraffic, traffic)), without);
  return others.length === 0 ? 'all' : `all except ${partTexts(others)}`;
}

const allKey = trafficKey(allTraffic);

function at(protocol: WithPorts, ports: Traffic): Traffic {
  const from = places[protocol];
  return ports.map(({ start, end }) => ({ start: from + start, end: from + end }));
}

function given(ports: Traffic, otherwise: Traffic): Traffic {
  return ports.length === 0 ? otherwise : joinIntervals(ports);
}

function has(traffic: Traffic, { start }: Interval): boolean {
  return traffic.some((interval) => interval.start <= start && start <= interval.end);
}

function portsOf(protocol: WithPorts, traffic: Traffic): readonly TrafficPart[] {
  const from = places[protocol];
  return traffic
    .map(({ start, end }) => ({ protocol, start: start - from, end: end - from }))
    .filter(({ start, end }) => start >= 1 && end <= 0xffff)
    .map((part) => (part.start === 1 && part.end === 0xffff ? { protocol } : part));
}

/** Leaves out ports of one protocol that lie inside a part of the other, which says them too. */
function leaveOut(parts: readonly TrafficPart[], { implied, by }: Implication): readonly TrafficPart[] {
  const covers = parts.filter(({ protocol }) => protocol === by);
  return parts.filter(
    ({ protocol, start, end }) =>
      protocol !== implied ||
      (start === undefined && implied === 'tcp') ||
      !covers.some((cover) => (cover.start ?? 1) <= (start ?? 1) && (end ?? 0xffff) <= (cover.end ?? 0xffff)),
  );
}

function partTexts(parts: readonly TrafficPart[]): string {
  return parts
    .map(({ protocol, start, end }) => {
      if (start === undefined) return protocol;
      return start === end ? `${protocol}/${start}` : `${protocol}/${start}-${end}`;
    })
    .join(', ');
}
