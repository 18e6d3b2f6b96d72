import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Interval, subtractIntervals, takeNumbers } from '../../src/lib/bits/intervals.ts';
import {
  freeFor,
  freePorts,
  type IngressProtocol,
  ingressProtocols,
  mapPieces,
  mappingsOf,
  type PortMapping,
  transports,
  usesTransport,
} from '../../src/model/state/ingress-ports.ts';
import { forwardingOf, noTakeovers, type Takeovers, takeoversIn } from '../../src/model/state/ingress-takeovers.ts';
import { createPortPool } from '../../src/model/state/port-pool.ts';
import type { Snapshot } from '../../src/model/state/snapshot.ts';
import { away, gate, hosts, machines, mapping, pool, port } from './ingress-machines.ts';
import { stateOf } from './objects.ts';

/**
 * Returns the port numbers that an ingress peer forwards for a transport, with a repeated number for each duplicate.
 */
function numbersOn(state: Snapshot, takeovers: Takeovers, gateway: string, transport: 'tcp' | 'udp') {
  const mappings = state.ofKind('IngressPort').flatMap((one): readonly PortMapping[] => {
    const now = forwardingOf(one, takeovers);
    // The numbers of the peer's own ports stay reserved while the peer is offline.
    const own = one.spec.ingress_peer_id === gateway ? mappingsOf(one) : [];
    return now?.ingressPeer === gateway && own.length === 0 ? now.mappings : own;
  });
  return numbers(mappings, transport, 'ingress');
}

function numbers(mappings: readonly PortMapping[], transport: 'tcp' | 'udp', side: 'ingress' | 'translated') {
  return mappings
    .filter(({ protocol }) => usesTransport(protocol, transport))
    .flatMap((one) =>
      Array.from({ length: one[`${side}_end`] - one[`${side}_start`] + 1 }, (_, at) => one[`${side}_start`] + at),
    );
}

/**
 * Generates a port in one of four slots of three numbers on an ingress peer, so that allocated numbers do not overlap.
 */
const aPort = fc
  .record({
    host: fc.constantFrom(...hosts),
    slot: fc.integer({ min: 0, max: 3 }),
    count: fc.integer({ min: 1, max: 3 }),
    protocol: fc.constantFrom('tcp', 'udp', 'tcp/udp'),
    direct: fc.boolean(),
    enabled: fc.boolean(),
  })
  .map(({ host, slot, count, protocol, direct, enabled }) => {
    const start = pool.start + slot * 3;
    const shape = direct ? { direct_port: { count, protocol } } : {};
    const mapped = mapping(start, count, protocol, direct ? start : 8000);
    return port(`p-${host}-${slot}`, host, [mapped], { ...shape, enabled });
  });

const anAccount = fc.record({
  ports: fc.uniqueArray(aPort, { selector: ({ id }) => id, maxLength: 10 }),
  gateways: fc.tuple(
    ...hosts.map((on) => fc.record({ on: fc.constant(on), enabled: fc.boolean(), fallback: fc.boolean() })),
  ),
  offline: fc.subarray(hosts),
  unapproved: fc.subarray(hosts, { maxLength: 1 }),
  keptOut: fc.subarray(hosts, { maxLength: 1 }),
});

/**
 * Generates an operation on a pool: take a given range if it is free (`same`), take the lowest free numbers (`others`),
 * or release numbers (`back`).
 */
const aUse = fc.record({
  what: fc.constantFrom('same', 'others', 'others', 'back'),
  start: fc.integer({ min: pool.start - 2, max: pool.end + 2 }),
  count: fc.integer({ min: 1, max: 4 }),
  protocol: fc.constantFrom(...ingressProtocols),
});

describe('a pool of ports', () => {
  it('finds the same free ports as a search through the free intervals', () => {
    fc.assert(
      fc.property(fc.array(aUse, { maxLength: 25 }), (uses) => {
        const gateway = stateOf(...machines, gate('e1', { udp_pool: { start: 104, end: 114 } })).ofKind(
          'IngressPeer',
        )[0];
        if (gateway === undefined) throw new Error('there is no ingress peer');
        const ports = createPortPool(gateway, []);
        const given: { readonly protocol: IngressProtocol; readonly pieces: readonly Interval[] }[] = [];
        for (const { what, start, count, protocol } of uses) {
          const mappings = given.flatMap((one) => mapPieces({ protocol: one.protocol }, one.pieces));
          const free = freeFor(protocol, freePorts(gateway, mappings));
          const same = { start, end: start + count - 1 };
          const isFree = subtractIntervals([same], free).length === 0;
          expect(ports.isFree(protocol, same)).toBe(isFree);
          expect(ports.findLowestFree(protocol, count)).toEqual(takeNumbers(free, count));
          const back = what === 'back' ? given.shift() : undefined;
          if (back !== undefined) ports.release(back.protocol, back.pieces);
          const pieces = what === 'same' && isFree ? [same] : what === 'others' ? takeNumbers(free, count) : undefined;
          if (pieces === undefined) continue;
          given.push({ protocol, pieces });
          ports.take(protocol, pieces);
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe('takeovers of ingress ports', () => {
  it("use online, approved, enabled fallbacks that are not kept out; forward no number twice; keep the peer's numbers", () => {
    fc.assert(
      fc.property(anAccount, ({ ports, gateways, offline, unapproved, keptOut }) => {
        const waiting = machines.map((one) =>
          unapproved.includes(one.id) ? { ...one, spec: { ...one.spec, approval_required: true } } : one,
        );
        const objects = [...waiting, ...gateways.map(({ on, ...spec }) => gate(on, spec)), ...ports];
        const state = stateOf(...objects);
        const now = { ...away(...offline), isExcluded: (host: string) => keptOut.includes(host) };
        const takeovers = takeoversIn(state, now);
        expect([...takeoversIn(stateOf(...objects.toReversed()), now)]).toEqual([...takeovers]);
        for (const [id, { ingressPeer, mappings }] of takeovers) {
          const taken = state.find('IngressPort', id);
          const [host, before] = [ingressPeer.replace('gate-', ''), taken === undefined ? [] : mappingsOf(taken)];
          expect(gateways.find(({ on }) => on === host)).toMatchObject({ enabled: true, fallback: true });
          expect([...offline, ...unapproved, ...keptOut]).not.toContain(host);
          expect([taken?.spec.enabled, offline.map((one) => `gate-${one}`)]).toEqual([
            true,
            expect.arrayContaining([taken?.spec.ingress_peer_id]),
          ]);
          for (const transport of transports)
            expect(numbers(mappings, transport, 'translated')).toEqual(numbers(before, transport, 'translated'));
          if (taken?.spec.direct_port !== undefined) expect(mappings).toEqual(before);
        }
        for (const on of hosts) {
          for (const transport of transports) {
            const used = numbersOn(state, takeovers, `gate-${on}`, transport);
            expect(new Set(used).size).toBe(used.length);
            expect(used.every((number) => number >= pool.start && number <= pool.end)).toBe(true);
          }
        }
      }),
      { numRuns: 300 },
    );
  });

  it('do not happen while all ingress peers are online', () => {
    const state = stateOf(...machines, ...hosts.map((on) => gate(on)), port('p', 'e1', [mapping(100, 1, 'tcp', 80)]));
    expect(takeoversIn(state, away())).toBe(noTakeovers);
    expect([...takeoversIn(state, away('e1'))]).toEqual([
      ['p', { ingressPeer: 'gate-e2', mappings: [mapping(100, 1, 'tcp', 80)] }],
    ]);
  });
});
