import type { Fault } from '../../model/declare/kind.ts';
import { type IngressProtocol, transports, usesTransport } from '../shared/ingress.ts';

/** A range of ports of the peer. */
export interface PortRange {
  readonly start: number;
  readonly end: number;
  readonly protocol: IngressProtocol;
}

/** What an ingress port asks for. */
interface PortsSpec {
  readonly port_ranges: readonly PortRange[];
}

/** Every port only once. */
export function checkRanges({ port_ranges: ranges }: PortsSpec): readonly Fault[] {
  return transports.flatMap((transport) => checkOnce(ranges, transport));
}

function checkOnce(ranges: readonly PortRange[], transport: 'tcp' | 'udp'): readonly Fault[] {
  const sorted = ranges
    .map((range, at) => ({ ...range, at }))
    .filter(({ protocol }) => usesTransport(protocol, transport))
    .sort((a, b) => a.start - b.start);
  return sorted.flatMap(({ start, at }, place) => {
    const before = sorted[place - 1];
    if (before === undefined || before.end < start) return [];
    const message = `the port ${start} (${transport}) is in the range ${before.start}–${before.end} already; ask for each port once`;
    return [{ code: 'port_repeated', path: `/port_ranges/${at}`, message }];
  });
}
