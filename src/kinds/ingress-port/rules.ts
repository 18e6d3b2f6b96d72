import type { Fault } from '../../model/declare/kind.ts';
import { exactlyOne } from '../shared/exclusive.ts';
import { type IngressProtocol, transports, usesTransport } from '../shared/ingress.ts';

/** A range of ports of the peer. */
export interface PortRange {
  readonly start: number;
  readonly end: number;
  readonly protocol: IngressProtocol;
}

/** So many ports of equal number on both sides. */
export interface DirectPort {
  readonly count: number;
  readonly protocol: IngressProtocol;
}

/** What an ingress port asks for. */
interface PortsSpec {
  readonly port_ranges: readonly PortRange[];
  readonly direct_port?: DirectPort | undefined;
}

/** Exactly one of the two forms, and every port only once. */
export function checkRanges({ port_ranges: ranges, direct_port: direct }: PortsSpec): readonly Fault[] {
  return [
    ...exactlyOne('ingress_port_exclusive', {
      first: ['port_ranges', ranges.length > 0],
      second: ['direct_port', direct !== undefined],
    }),
    ...ranges.flatMap(({ start, end }, at): readonly Fault[] =>
      start <= end
        ? []
        : [
            {
              code: 'port_range_invalid',
              path: `/port_ranges/${at}`,
              message: `the range ends at ${end}, before it starts at ${start}; swap them`,
            },
          ],
    ),
    ...transports.flatMap((transport) => checkOnce(ranges, transport)),
  ];
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
