import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  allTraffic,
  missingTrafficText,
  parsePorts,
  type Traffic,
  trafficInQuestion,
  trafficKey,
  trafficOf,
  trafficText,
} from '../../src/access/evaluate/traffic.ts';
import { partitionTraffic } from '../../src/access/evaluate/traffic-partition.ts';
import type { Protocol } from '../../src/access/ruleset/object-readers.ts';
import { intersectIntervals, mergeIntervals, subtractIntervals } from '../../src/lib/bits/intervals.ts';

const port = (start: number, end = start) => ({ start, end });
const accept = (protocol: Protocol, ...ports: readonly { readonly start: number; readonly end: number }[]) =>
  trafficOf({ action: 'accept', protocol, ports });
const drop = (protocol: Protocol, ...ports: readonly { readonly start: number; readonly end: number }[]) =>
  trafficOf({ action: 'drop', protocol, ports });

describe('traffic', () => {
  test.each<[string, Traffic]>([
    ['all', accept('all')],
    ['nothing', []],
    ['tcp/443', accept('tcp', port(443))],
    ['tcp/80, tcp/8000-8010', accept('tcp', port(8000, 8010), port(80))],
    ['tcp/80-81', accept('tcp', port(80), port(81))],
    ['tcp', accept('tcp')],
    ['udp/53', accept('udp', port(53))],
    ['icmp', accept('icmp')],
    ['ssh/22', accept('ssh')],
    ['ssh/2222', accept('ssh', port(2222))],
    ['tcp, ssh/22', mergeIntervals([...accept('tcp'), ...accept('ssh')])],
    ['tcp/22', subtractIntervals(accept('ssh'), trafficInQuestion('ssh'))],
    ['all except tcp/22', subtractIntervals(allTraffic, drop('tcp', port(22)))],
    ['all except tcp/22', subtractIntervals(allTraffic, drop('ssh'))],
    ['all except udp, icmp', subtractIntervals(allTraffic, [...accept('udp'), ...accept('icmp')])],
    ['all except tcp/22', subtractIntervals(allTraffic, accept('ssh'))],
    ['all except ssh/22', subtractIntervals(allTraffic, trafficInQuestion('ssh'))],
  ])('is formatted as %s', (text, traffic) => {
    expect(trafficText(traffic)).toBe(text);
  });

  test.each<[string, Traffic]>([
    ['nothing', []],
    ['all', allTraffic],
    ['tcp/5432', drop('tcp', port(5432))],
    ['tcp', drop('tcp')],
    ['tcp/22', drop('ssh')],
    ['ssh/22', trafficInQuestion('ssh')],
    ['tcp/80, udp', mergeIntervals([...drop('tcp', port(80)), ...drop('udp')])],
    ['all except ssh/22', subtractIntervals(allTraffic, accept('ssh'))],
  ])('is formatted as %s when it does not pass', (text, traffic) => {
    expect(missingTrafficText(traffic)).toBe(text);
  });

  test('includes TCP port 22 when SSH is accepted, and loses SSH when TCP port 22 is dropped', () => {
    const has = (traffic: Traffic, asked: Traffic) => subtractIntervals(asked, traffic).length === 0;
    expect(has(accept('ssh'), trafficInQuestion('tcp', [port(22)]))).toBe(true);
    expect(has(accept('tcp', port(22)), trafficInQuestion('ssh'))).toBe(false);
    expect(has(accept('all'), trafficInQuestion('ssh'))).toBe(true);
    expect(has(drop('tcp', port(22)), trafficInQuestion('ssh'))).toBe(true);
    expect(has(drop('tcp', port(23)), trafficInQuestion('ssh'))).toBe(false);
    expect(has(drop('ssh'), trafficInQuestion('tcp', [port(22)]))).toBe(true);
    expect(has(accept('udp'), trafficInQuestion('ssh'))).toBe(false);
  });

  test.each([
    ['443', [port(443)]],
    ['8000-8010', [port(8000, 8010)]],
    ['1-65535', [port(1, 65535)]],
    ['0', undefined],
    ['65536', undefined],
    ['10-9', undefined],
    ['http', undefined],
    ['', undefined],
    ['80,443', undefined],
    ['-5', undefined],
  ])('parses the ports %s', (text, ports) => {
    expect(parsePorts(text)).toEqual(ports);
  });
});

describe('the pieces of partitioned traffic', () => {
  const someTraffic = fc
    .array(fc.tuple(fc.nat(30), fc.nat(6)), { maxLength: 4 })
    .map((list) => mergeIntervals(list.map(([start, length]) => ({ start, end: start + length }))));

  test('make up every traffic that they were cut from, and do not overlap', () => {
    fc.assert(
      fc.property(fc.array(someTraffic, { maxLength: 6 }), (given) => {
        const { pieces, piecesByTraffic } = partitionTraffic(given);
        for (const [at, traffic] of given.entries()) {
          const whole = mergeIntervals((piecesByTraffic[at] ?? []).flatMap((piece) => pieces[piece] ?? []));
          expect(trafficKey(whole)).toBe(trafficKey(traffic));
        }
        for (const [at, piece] of pieces.entries())
          for (const other of pieces.slice(at + 1)) expect(intersectIntervals(piece, other)).toEqual([]);
        const covering = pieces.map((_, piece) =>
          piecesByTraffic.flatMap((own, at) => (own.includes(piece) ? [at] : [])).join(),
        );
        expect(new Set(covering).size).toBe(pieces.length);
      }),
    );
  });
});
