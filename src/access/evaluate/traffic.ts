import { type Interval, mergeIntervals, subtractIntervals } from '../../lib/bits/intervals.ts';
import type { Protocol, Rule } from '../ruleset/object-readers.ts';

/**
 * Traffic between two endpoints, as numbers on one line: each port of each protocol is a number, and so are ICMP and
 * all other protocols. So traffic is united, intersected and subtracted as intervals.
 */
export type Traffic = readonly Interval[];

/**
 * Start of each protocol on the line. `ssh` means a login at the SSH server of the mesh, which uses TCP. A rule that
 * accepts SSH therefore also accepts TCP on the same ports, and a rule that drops TCP also drops SSH.
 */
const protocolOffsets = { tcp: 0, udp: 0x2_0000, ssh: 0x4_0000 } as const;
const icmp: Interval = { start: 0x6_0001, end: 0x6_0001 };
/** All other protocols. */
const otherProtocols: Interval = { start: 0x6_0003, end: 0x6_0003 };

type PortProtocol = keyof typeof protocolOffsets;

const allPorts: Traffic = [{ start: 1, end: 0xffff }];
const sshPorts: Traffic = [{ start: 22, end: 22 }];

/** No traffic. */
export const noTraffic: Traffic = [];

/** All traffic. */
export const allTraffic: Traffic = [
  offsetPorts('tcp', allPorts),
  offsetPorts('udp', allPorts),
  offsetPorts('ssh', allPorts),
  [icmp, otherProtocols],
].flat();

/** Returns the traffic of a rule. */
export function trafficOf({ action, protocol, ports }: Pick<Rule, 'action' | 'protocol' | 'ports'>): Traffic {
  switch (protocol) {
    case 'all':
      return allTraffic;
    case 'icmp':
      return [icmp];
    case 'udp':
      return offsetPorts('udp', portsOrDefault(ports, allPorts));
    case 'tcp': {
      const chosen = portsOrDefault(ports, allPorts);
      return action === 'drop'
        ? [...offsetPorts('tcp', chosen), ...offsetPorts('ssh', chosen)]
        : offsetPorts('tcp', chosen);
    }
    case 'ssh': {
      const chosen = portsOrDefault(ports, sshPorts);
      return [...offsetPorts('tcp', chosen), ...offsetPorts('ssh', chosen)];
    }
    default:
      return protocol satisfies never;
  }
}

/** Returns the traffic of a question. Without ports, it is all ports, or the usual port for `ssh`. */
export function trafficInQuestion(protocol: Protocol, ports: readonly Interval[] = []): Traffic {
  if (protocol === 'ssh') return offsetPorts('ssh', portsOrDefault(ports, sshPorts));
  return trafficOf({ action: 'accept', protocol, ports });
}

/** Parses a port or a range, such as `443` or `8000-8010`. Returns `undefined` for any other text. */
export function parsePorts(text: string): readonly Interval[] | undefined {
  const [, first, last = first] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text) ?? [];
  const [start, end] = [Number(first), Number(last)];
  return start >= 1 && start <= end && end <= 0xffff ? [{ start, end }] : undefined;
}

/** Returns a key that is equal for equal traffic. */
export function trafficKey(traffic: Traffic): string {
  return traffic.map(({ start, end }) => (start === end ? `${start}` : `${start}-${end}`)).join();
}

/** A part of traffic for display. Without ports, it is the whole protocol. */
interface TrafficPart {
  readonly protocol: Protocol | 'other';
  readonly start?: number;
  readonly end?: number;
}

/** Returns the traffic as parts, protocol by protocol. All traffic is the single part `all`. */
function trafficParts(traffic: Traffic): readonly TrafficPart[] {
  if (trafficKey(traffic) === allTrafficKey) return [{ protocol: 'all' }];
  return [
    ...portsOf('tcp', traffic),
    ...portsOf('udp', traffic),
    ...portsOf('ssh', traffic),
    ...(has(traffic, icmp) ? [{ protocol: 'icmp' as const }] : []),
    ...(has(traffic, otherProtocols) ? [{ protocol: 'other' as const }] : []),
  ];
}

/**
 * Renders passing traffic as text, such as `tcp/443, udp` or `all except tcp/22`. SSH implies TCP on the same ports,
 * which is left out.
 */
export function trafficText(traffic: Traffic): string {
  return textOf(traffic, passingImplication, missingImplication);
}

/**
 * Renders traffic that does not pass, or no longer passes, as text. Missing TCP implies missing SSH on the same ports,
 * which is left out.
 */
export function missingTrafficText(traffic: Traffic): string {
  return textOf(traffic, missingImplication, passingImplication);
}

/** A protocol that is left out of the text where another protocol implies it. */
interface Implication {
  readonly implied: PortProtocol;
  readonly by: PortProtocol;
}

const passingImplication: Implication = { implied: 'tcp', by: 'ssh' };
const missingImplication: Implication = { implied: 'ssh', by: 'tcp' };

function textOf(traffic: Traffic, within: Implication, without: Implication): string {
  if (traffic.length === 0) return 'nothing';
  if (!has(traffic, otherProtocols)) return partTexts(leaveOut(trafficParts(traffic), within));
  const others = leaveOut(trafficParts(subtractIntervals(allTraffic, traffic)), without);
  return others.length === 0 ? 'all' : `all except ${partTexts(others)}`;
}

const allTrafficKey = trafficKey(allTraffic);

function offsetPorts(protocol: PortProtocol, ports: Traffic): Traffic {
  const from = protocolOffsets[protocol];
  return ports.map(({ start, end }) => ({ start: from + start, end: from + end }));
}

function portsOrDefault(ports: Traffic, otherwise: Traffic): Traffic {
  return ports.length === 0 ? otherwise : mergeIntervals(ports);
}

function has(traffic: Traffic, { start }: Interval): boolean {
  return traffic.some((interval) => interval.start <= start && start <= interval.end);
}

function portsOf(protocol: PortProtocol, traffic: Traffic): readonly TrafficPart[] {
  const from = protocolOffsets[protocol];
  return traffic
    .map(({ start, end }) => ({ protocol, start: start - from, end: end - from }))
    .filter(({ start, end }) => start >= 1 && end <= 0xffff)
    .map((part) => (part.start === 1 && part.end === 0xffff ? { protocol } : part));
}

/** Leaves out ports of the implied protocol that a part of the other protocol covers. */
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
