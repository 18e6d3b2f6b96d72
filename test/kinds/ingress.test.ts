import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assignPorts } from '../../src/kinds/ingress-port/allocate.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { createValidator } from '../../src/model/schema/validation/validate.ts';
import { ingressProtocols, mappingsOf, type PortMapping, usesTransport } from '../../src/model/state/ingress-ports.ts';
import type { StoredObject } from '../../src/model/state/object.ts';
import type { Snapshot } from '../../src/model/state/snapshot.ts';
import type { Stored } from '../../src/model/state/stored.ts';
import { planCreate, planDelete, planReplace, type RequestOutcome } from '../../src/plan/requests/requests.ts';
import { growthOf, linear } from '../setup/growth.ts';
import { present } from '../setup/present.ts';
import { faultsOf, peer, registry, stateOf, stored } from './objects.ts';

const kind = registry.get('IngressPort');
const validator = createValidator(registry);

const located = (id: string, country: string): StoredObject => ({
  ...peer(id, `100.72.0.${id.length + id.charCodeAt(id.length - 1)}`),
  derived: { country_code: country, connection_ip: '198.51.100.7' },
});
const gate = (id: string, on: string, spec: JsonObject = {}) =>
  stored('IngressPeer', id, { peer_id: on, enabled: true, fallback: false, ...spec });
const pools = (start: number, end: number): JsonObject => ({ tcp_pool: { start, end }, udp_pool: { start, end } });

function contextOf(snapshot: Snapshot) {
  let last = snapshot.size + snapshot.revision;
  const newId = () => `port-${String(last++).padStart(4, '0')}`;
  const planEnvironment = { edition: 'hosted' } as never;
  return { snapshot, validator, strict: true, now: '2026-01-02T03:04:05Z', newId, planEnvironment };
}

function create(state: Snapshot, on: string, name: string, asks: JsonObject): RequestOutcome {
  return planCreate(contextOf(state), kind, { name, enabled: true, ...asks }, on);
}

function nextOf(outcome: RequestOutcome): Snapshot {
  if (!outcome.ok) throw new Error(outcome.problems.map(({ message }) => message).join());
  return outcome.next;
}

function portOf(state: Snapshot, name: string): Stored<'IngressPort'> {
  const [port] = state.lookUp('IngressPort', 'name', name);
  if (port === undefined) throw new Error(`no ingress port ${name}`);
  return port;
}

describe('the ports requested by an ingress port', () => {
  const range = (start: number, end: number, protocol = 'tcp') => ({ start, end, protocol });
  const cases: readonly (readonly [string, JsonObject, readonly string[]])[] = [
    ['a range', { port_ranges: [range(80, 90)] }, []],
    ['a single port', { port_ranges: [range(80, 80)] }, []],
    ['ports by number', { direct_port: { count: 2, protocol: 'udp' } }, []],
    ['nothing', {}, ['ingress_port_exclusive ']],
    ['an empty list', { port_ranges: [] }, ['ingress_port_exclusive ']],
    [
      'both',
      { port_ranges: [range(80, 80)], direct_port: { count: 1, protocol: 'tcp' } },
      ['ingress_port_exclusive /direct_port'],
    ],
    ['a range that runs backwards', { port_ranges: [range(90, 80)] }, ['port_range_invalid /port_ranges/0']],
    ['a port in two protocols', { port_ranges: [range(80, 80), range(80, 80, 'udp')] }, []],
    ['neighbours', { port_ranges: [range(80, 81), range(82, 83)] }, []],
    ['a port twice', { port_ranges: [range(80, 82), range(82, 83)] }, ['port_repeated /port_ranges/1']],
    [
      'a port once in both protocols and once in one',
      { port_ranges: [range(80, 82, 'tcp/udp'), range(81, 81)] },
      ['port_repeated /port_ranges/1'],
    ],
  ];

  it.each(cases)('%s: %j gives the faults %j', (_, asks, faults) => {
    expect(faultsOf('IngressPort', { peer: 'p', name: 'web', enabled: true, ...asks })).toEqual(faults);
  });
});

describe('an ingress peer', () => {
  it('refuses a pool that ends before it starts', () => {
    const spec = { peer_id: 'p', enabled: true, fallback: true };
    expect(faultsOf('IngressPeer', { ...spec, tcp_pool: { start: 5, end: 5 } })).toEqual([]);
    expect(faultsOf('IngressPeer', { ...spec, udp_pool: { start: 6, end: 5 } })).toEqual([
      'port_range_invalid /udp_pool',
    ]);
  });

  it('refuses to shrink a pool below the ports in use', () => {
    const base = stateOf(located('web', ''), located('edge', ''), gate('g', 'edge', { fallback: true }));
    const state = nextOf(create(base, 'web', 'a', { direct_port: { count: 3, protocol: 'tcp' } }));
    const faults = (spec: JsonObject) =>
      registry
        .get('IngressPeer')
        .checkState?.(gate('g', 'edge', spec), state)
        .map(({ code, path }) => `${code} ${path}`);
    expect(faults({ tcp_pool: { start: 20000, end: 20002 }, udp_pool: { start: 1, end: 1 } })).toEqual([]);
    expect(faults({ tcp_pool: { start: 20000, end: 20001 } })).toEqual(['pool_in_use /tcp_pool']);
  });
});

describe('the ingress peer of a port', () => {
  const peers = [
    located('web', 'DE'),
    located('lost', ''),
    located('e1', 'DE'),
    located('e2', 'PT'),
    located('e3', 'de'),
  ];
  const asks = { direct_port: { count: 1, protocol: 'tcp' } };
  const chosen = (on: string, ...gateways: readonly StoredObject[]) => {
    const outcome = create(stateOf(...peers, ...gateways), on, 'a', asks);
    return outcome.ok ? portOf(outcome.next, 'a').spec['ingress_peer_id'] : outcome.problems.map(({ code }) => code);
  };

  it.each<readonly [string, string, readonly StoredObject[], unknown]>([
    ['is of the same region', 'web', [gate('a', 'e2', { fallback: true }), gate('b', 'e1')], 'b'],
    [
      'may say another region than that of its peer',
      'web',
      [gate('a', 'e1', { region: 'PT' }), gate('b', 'e2', { region: 'de' })],
      'b',
    ],
    ['is the first of several', 'web', [gate('b', 'e1'), gate('a', 'e3')], 'a'],
    ['is a fallback when the region has none', 'web', [gate('a', 'e2'), gate('b', 'e2', { fallback: true })], 'b'],
    ['is a fallback when the region is unknown', 'lost', [gate('a', 'e1'), gate('b', 'e2', { fallback: true })], 'b'],
    ['is enabled', 'web', [gate('a', 'e1', { enabled: false }), gate('b', 'e2', { fallback: true })], 'b'],
    ['has to be there', 'web', [gate('a', 'e2')], ['nothing_free']],
    [
      'is no fallback while the region has one',
      'web',
      [gate('a', 'e1', pools(1, 1)), gate('b', 'e2', { fallback: true }), gate('c', 'e3', pools(1, 1))],
      'a',
    ],
  ])('%s', (_, on, gateways, expected) => {
    expect(chosen(on, ...gateways)).toEqual(expected);
  });

  it('is never a fallback when the ingress peers of the region are full', () => {
    const gateways = [gate('a', 'e1', pools(1, 1)), gate('b', 'e2', { fallback: true })];
    const full = nextOf(create(stateOf(...peers, ...gateways), 'web', 'first', asks));
    const outcome = create(full, 'web', 'second', asks);
    expect(outcome.ok ? [] : outcome.problems.map(({ code }) => code)).toEqual(['nothing_free']);
  });
});

describe('the allocation of an ingress port', () => {
  const base = stateOf(
    located('web', ''),
    located('edge', ''),
    gate('g', 'edge', { fallback: true, ...pools(100, 109) }),
  );
  const ranges = (...list: readonly (readonly [number, number, string])[]): JsonObject => ({
    port_ranges: list.map(([start, end, protocol]) => ({ start, end, protocol })),
  });
  const shown = (state: Snapshot, name: string) =>
    mappingsOf(portOf(state, name)).map(
      (piece) =>
        `${piece.translated_start}-${piece.translated_end} ${piece.ingress_start}-${piece.ingress_end} ${piece.protocol}`,
    );
  const replace = (state: Snapshot, name: string, asks: JsonObject, enabled = true) =>
    planReplace(contextOf(state), kind, portOf(state, name), { name, enabled, ...asks });

  it('is the lowest free run that is long enough, otherwise several pieces', () => {
    let state = nextOf(create(base, 'web', 'a', ranges([8000, 8002, 'tcp'])));
    state = nextOf(create(state, 'web', 'b', ranges([9000, 9002, 'tcp'])));
    expect([shown(state, 'a'), shown(state, 'b')]).toEqual([['8000-8002 100-102 tcp'], ['9000-9002 103-105 tcp']]);
    state = nextOf(planDelete(contextOf(state), kind, portOf(state, 'a')));
    state = nextOf(create(state, 'web', 'c', ranges([7000, 7005, 'tcp'])));
    expect(shown(state, 'c')).toEqual(['7000-7002 100-102 tcp', '7003-7005 106-108 tcp']);
  });

  it('has equal numbers on both sides for direct ports, and in both protocols for tcp/udp', () => {
    let state = nextOf(create(base, 'web', 'a', ranges([53, 54, 'udp'])));
    state = nextOf(create(state, 'web', 'b', { direct_port: { count: 2, protocol: 'tcp/udp' } }));
    expect(shown(state, 'b')).toEqual(['102-103 102-103 tcp/udp']);
  });

  it('is kept when the name or `enabled` changes, and when the request contains no ports', () => {
    const state = nextOf(create(base, 'web', 'a', ranges([80, 80, 'tcp'], [53, 53, 'udp'])));
    const off = nextOf(replace(state, 'a', {}, false));
    expect(portOf(off, 'a').derived).toEqual(portOf(state, 'a').derived);
    expect(portOf(off, 'a').spec).toEqual({ ...portOf(state, 'a').spec, enabled: false });
    const same = replace(state, 'a', ranges([80, 80, 'tcp'], [53, 53, 'udp']));
    expect(same.ok && same.plan.changes).toEqual([]);
  });

  it('is kept for the ranges that are still requested', () => {
    let state = nextOf(create(base, 'web', 'a', ranges([80, 80, 'tcp'], [53, 53, 'udp'])));
    state = nextOf(create(state, 'web', 'b', ranges([81, 81, 'tcp'])));
    state = nextOf(replace(state, 'a', ranges([53, 53, 'udp'], [22, 23, 'tcp'])));
    expect(shown(state, 'a')).toEqual(['53-53 100-100 udp', '22-23 102-103 tcp']);
  });

  it('is replaced when direct ports are requested instead of ranges, and back', () => {
    const state = nextOf(create(base, 'web', 'a', ranges([80, 81, 'tcp'])));
    const direct = nextOf(replace(state, 'a', { direct_port: { count: 3, protocol: 'udp' } }));
    expect(portOf(direct, 'a').spec).toMatchObject({ port_ranges: [], direct_port: { count: 3, protocol: 'udp' } });
    expect(shown(direct, 'a')).toEqual(['100-102 100-102 udp']);
    const back = nextOf(replace(direct, 'a', ranges([80, 81, 'tcp'])));
    expect('direct_port' in portOf(back, 'a').spec).toBe(false);
    expect(shown(back, 'a')).toEqual(['80-81 100-101 tcp']);
  });

  it('is kept but not extended while its ingress peer is disabled', () => {
    const state = nextOf(create(base, 'web', 'a', ranges([80, 80, 'tcp'], [81, 81, 'tcp'])));
    const off = state.with({
      put: [gate('g', 'edge', { fallback: true, enabled: false, ...pools(100, 109) })],
      remove: [],
    });
    expect(shown(nextOf(replace(off, 'a', {}, false)), 'a')).toEqual(shown(state, 'a'));
    expect(shown(nextOf(replace(off, 'a', ranges([81, 81, 'tcp']))), 'a')).toEqual(['81-81 101-101 tcp']);
    const more = replace(off, 'a', ranges([81, 81, 'tcp'], [90, 90, 'tcp']));
    expect(more.ok ? [] : more.problems.map(({ code }) => code)).toEqual(['nothing_free']);
  });
});

interface PortRequest {
  readonly name: string;
  readonly asks: readonly { readonly count: number; readonly protocol: (typeof ingressProtocols)[number] }[];
  readonly direct: boolean;
}

const portRequests: fc.Arbitrary<PortRequest> = fc.record({
  name: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
  direct: fc.boolean(),
  asks: fc.array(fc.record({ count: fc.integer({ min: 1, max: 6 }), protocol: fc.constantFrom(...ingressProtocols) }), {
    minLength: 0,
    maxLength: 3,
  }),
});

/**
 * Returns the body of a port request. Every range has separate ports. Without ranges, the request releases the port.
 */
function asksOf({ asks, direct }: PortRequest): JsonObject {
  const [first] = asks;
  if (direct && first !== undefined) return { direct_port: { ...first } };
  return {
    port_ranges: asks.map(({ count, protocol }, at) => ({
      start: 1000 * (at + 1),
      end: 1000 * (at + 1) + count - 1,
      protocol,
    })),
  };
}

function numbersOf(state: Snapshot, transport: 'tcp' | 'udp', except = ''): readonly number[] {
  return state
    .ofKind('IngressPort')
    .filter(({ name }) => name !== except)
    .flatMap(mappingsOf)
    .filter(({ protocol }) => usesTransport(protocol, transport))
    .flatMap(({ ingress_start: start, ingress_end: end }: PortMapping) =>
      Array.from({ length: end - start + 1 }, (_, at) => start + at),
    );
}

/** Returns whether the pool of twelve port numbers has room for the request, next to what the other ports occupy. */
function fits(state: Snapshot, name: string, asks: PortRequest['asks']): boolean {
  const taken = { tcp: new Set(numbersOf(state, 'tcp', name)), udp: new Set(numbersOf(state, 'udp', name)) };
  const all = Array.from({ length: 12 }, (_, at) => 100 + at);
  const count = (protocol: string) =>
    asks.filter((asked) => asked.protocol === protocol).reduce((sum, asked) => sum + asked.count, 0);
  const both = count('tcp/udp');
  return (
    all.filter((port) => !taken.tcp.has(port) && !taken.udp.has(port)).length >= both &&
    12 - taken.tcp.size >= both + count('tcp') &&
    12 - taken.udp.size >= both + count('udp')
  );
}

/** Returns a snapshot with `count` ports that have numbers, and as many that have none yet. */
function crowd(count: number): Snapshot {
  const ports = Array.from({ length: count }, (_, at) => {
    const fields = {
      peer: 'web',
      name: `p${at}`,
      enabled: true,
      port_ranges: [{ start: 80, end: 81, protocol: 'tcp' }],
    };
    const number = 2000 + 3 * at;
    const mapping = { translated_start: 80, translated_end: 81, ingress_start: number, ingress_end: number + 1 };
    const derived = { port_range_mappings: [{ ...mapping, protocol: 'tcp' }] };
    return [
      stored('IngressPort', `waiting-${at}`, fields, { parent: 'web' }),
      stored('IngressPort', `settled-${at}`, { ...fields, ingress_peer_id: 'g' }, { parent: 'web', derived }),
    ];
  });
  const gateway = gate('g', 'edge', { fallback: true, ...pools(2000, 60_000) });
  return stateOf(located('web', ''), located('edge', ''), gateway, ...ports.flat());
}

describe('allocations of ingress ports', () => {
  it('take time linear in the number of ports when many are served at once', () => {
    const serve = (count: number) => {
      const state = crowd(count);
      const [first] = state.ofKind('IngressPort').filter(({ id }) => id === 'waiting-0');
      const [change] = assignPorts({ after: present(first), newId: () => '' }, state);
      expect(change).toMatchObject({ derived: { port_range_mappings: [{ protocol: 'tcp' }] } });
    };
    expect(growthOf(serve, 60)).toBeLessThan(linear);
  });

  it('never overlap as ports are created, changed and deleted, and succeed for every new port that fits', () => {
    fc.assert(
      fc.property(fc.array(portRequests, { maxLength: 14 }), (list) => {
        let state: Snapshot = stateOf(
          located('web', ''),
          located('edge', ''),
          gate('g', 'edge', { fallback: true, ...pools(100, 111) }),
        );
        for (const request of list) {
          const [present] = state.lookUp('IngressPort', 'name', request.name);
          if (request.asks.length === 0) {
            if (present !== undefined) state = nextOf(planDelete(contextOf(state), kind, present));
            continue;
          }
          const asks = request.direct ? request.asks.slice(0, 1) : request.asks;
          const body = { name: request.name, enabled: true, ...asksOf(request) };
          const outcome =
            present === undefined
              ? planCreate(contextOf(state), kind, body, 'web')
              : planReplace(contextOf(state), kind, present, body);
          // A port keeps its numbers, so a change may fail although there would be room after moving them.
          const room = fits(state, request.name, asks);
          expect(outcome.ok, JSON.stringify(request)).toBe(present === undefined ? room : room && outcome.ok);
          if (outcome.ok) state = outcome.next;
          for (const transport of ['tcp', 'udp'] as const) {
            const numbers = numbersOf(state, transport);
            expect(new Set(numbers).size).toBe(numbers.length);
            expect(numbers.every((port) => port >= 100 && port <= 111)).toBe(true);
          }
        }
      }),
      { numRuns: 150 },
    );
  });
});
