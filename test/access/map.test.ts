import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { reachOf } from '../../src/access/evaluate/reach.ts';
import { mapDigest, networkMapOf } from '../../src/access/netmap/map.ts';
import { touchedMaps } from '../../src/access/netmap/touched.ts';
import type { AccessImage } from '../../src/access/ruleset/access.ts';
import { compileAccess, updateAccess } from '../../src/access/ruleset/compile.ts';
import type { ObservedPeers } from '../../src/access/ruleset/facts.ts';
import type { StoredObject } from '../../src/model/state/object.ts';
import { account, group, peer, stored } from '../kinds/objects.ts';
import { aChange, anAccount, applyChange, type Change, runs, someObservedPeers } from './account.ts';
import { everybody, snapshotOf } from './image.ts';
import { someNames } from './map-account.ts';
import { followChange, parseMap, type ReadMap, type ReadRule, readMap, writtenChange } from './map-reader.ts';
import { type Naive, naiveVerdict, type Probe, portsForwarded, probes, takesPart } from './naive.ts';
import { naiveNamesOf } from './naive-names.ts';
import { officeWith, policy } from './office.ts';

const peers = everybody.filter((id) => id.startsWith('p'));

/**
 * Returns whether the rules of a map allow a connection with a peer. Evaluates them as a firewall does: a drop rule
 * takes precedence.
 */
function passes(map: ReadMap, rules: readonly ReadRule[], peer: string, { protocol, port }: Probe): boolean {
  const sets = new Map(map.sets.map((set) => [set.id, set.peers]));
  const about = (rule: ReadRule): boolean => {
    const ports = rule.ports.length > 0 || rule.protocol !== 'ssh' ? rule.ports : [{ start: 22, end: 22 }];
    if (rule.protocol === 'all') return true;
    const updated = { ssh: ['ssh', 'tcp'], tcp: rule.action === 'drop' ? ['tcp', 'ssh'] : ['tcp'] };
    const protocols = (updated as Readonly<Record<string, readonly string[]>>)[rule.protocol] ?? [rule.protocol];
    return protocols.includes(protocol) && (ports.length === 0 || ports.some((p) => p.start <= port && port <= p.end));
  };
  const concerned = rules.filter((rule) => sets.get(rule.set)?.includes(peer) && about(rule));
  return concerned.length > 0 && concerned.every(({ action }) => action === 'accept');
}

function expectMap(account: Naive, access: AccessImage, own: string): void {
  const map = readMap(access, own);
  const reach = reachOf(access, own);
  expect(map === undefined).toBe(reach === undefined);
  if (map === undefined || reach === undefined) return;
  const others = (list: readonly { readonly id: string }[]) => list.map(({ id }) => id).filter((id) => id !== own);
  expect([others(map.peers), others(map.away)]).toEqual([reach.peers, reach.away]);
  expect(map.routes.map(({ id, ways }) => [id, ways.map((way) => [way.id, way.peers])])).toEqual(
    reach.uses.map(({ id, ways }) => [id, ways.map((way) => [way.id, way.peers])]),
  );
  expect(map.leads.map(({ id, ways }) => [id, ways.map((way) => way.id)])).toEqual(
    reach.serves.map(({ id, ways }) => [id, ways.map((way) => way.id)]),
  );
  if (map.self['state'] === 'active') {
    for (const other of peers.filter((id) => id !== own)) {
      for (const probe of probes) {
        const sure = (from: string, to: string) => naiveVerdict(account, from, to, probe) === 'allow';
        expect([other, probe, passes(map, map.outbound, other, probe)]).toEqual([other, probe, sure(own, other)]);
        expect([other, probe, passes(map, map.inbound, other, probe)]).toEqual([other, probe, sure(other, own)]);
        for (const { id, rules = [] } of map.leads)
          expect([id, other, probe, passes(map, rules, other, probe)]).toEqual([id, other, probe, sure(other, id)]);
      }
    }
  }
  const active = map.self['state'] === 'active' ? everybody.filter((id) => takesPart(account, id)) : [];
  const expected = active.flatMap((from) =>
    active.flatMap((to) =>
      [from, to].includes(own) ? portsForwarded(account, from, to).map(({ id }) => [id, from, to] as const) : [],
    ),
  );
  const forwards = map.forwards.map(({ id, gateway, peer: to }) => [id, gateway, to]);
  expect(forwards).toEqual(expected.sort(([a], [b]) => (a < b ? -1 : 1)));
  expect({ dns: map.dns, zones: map.zones, nameservers: map.nameservers }).toEqual(
    naiveNamesOf(account, own, map.self['state'] === 'active'),
  );
}

describe('the map of a peer', () => {
  it('equals the result of checking all rules, zones and nameserver groups', () => {
    fc.assert(
      fc.property(anAccount, someNames, someObservedPeers, (parts, names, observedPeers) => {
        const objects = [...parts, ...names];
        const access = compileAccess(snapshotOf(objects), observedPeers);
        for (const peer of peers) expectMap({ objects, observedPeers }, access, peer);
      }),
      { numRuns: runs(40) },
    );
  });

  it('equals a recompiled map after every incremental update, and changes only for touched peers', () => {
    const step = fc.record({
      change: aChange,
      names: fc.option(someNames, { nil: undefined }),
      others: fc.option(someObservedPeers, { nil: undefined }),
    });
    fc.assert(
      fc.property(
        anAccount,
        someNames,
        someObservedPeers,
        fc.array(step, { maxLength: 4 }),
        (first, names, known, steps) => {
          let [objects, observedPeers]: [readonly StoredObject[], ObservedPeers] = [[...first, ...names], known];
          let state = snapshotOf(objects);
          let access = compileAccess(state, observedPeers);
          const kept = new Map(peers.map((peer) => [peer, readMap(access, peer)]));
          for (const { change, names: named = [], others } of steps) {
            const both: Change = { put: [...change.put, ...named], remove: change.remove };
            const before = access;
            objects = applyChange(objects, both);
            observedPeers = others ?? observedPeers;
            const changed = [...both.put.map(({ id }) => id), ...both.remove, ...(others === undefined ? [] : peers)];
            state = state.with(both);
            access = updateAccess(before, state, changed, observedPeers);
            const fresh = compileAccess(snapshotOf(objects), observedPeers);
            const touched = new Set(touchedMaps(before, access, changed));
            for (const peer of peers) follow(peer, { before, access, fresh, kept, touched: touched.has(peer) });
          }
        },
      ),
      { numRuns: runs(60) },
    );
  });
});

interface Followed {
  readonly before: AccessImage;
  readonly access: AccessImage;
  readonly fresh: AccessImage;
  readonly kept: Map<string, ReadMap | undefined>;
  readonly touched: boolean;
}

function follow(peer: string, { before, access, fresh, kept, touched }: Followed): void {
  const [was, is, rebuilt] = [networkMapOf(before, peer), networkMapOf(access, peer), networkMapOf(fresh, peer)];
  expect(is && parseMap(is)).toEqual(rebuilt && parseMap(rebuilt));
  expect(is && mapDigest(is)).toBe(rebuilt && mapDigest(rebuilt));
  const old = kept.get(peer);
  kept.set(peer, is && parseMap(is));
  if (is === undefined || was === undefined || old === undefined) return;
  const change = writtenChange(was, is);
  expect(followChange(old, change)).toEqual(parseMap(is));
  expect(change === '').toBe(mapDigest(was) === mapDigest(is));
  if (!touched) expect([peer, change]).toEqual([peer, '']);
}

describe('the map of an office peer', () => {
  const named = [
    account({ network_range: '100.64.0.0/16', dns_domain: 'mesh.test' }),
    stored('User', 'uma', { name: 'Uma', role: 'user', auto_groups: ['developers'], is_service_user: false }),
    stored('DNSZone', 'zone', {
      name: 'Internal',
      domain: 'in.test',
      enable_search_domain: true,
      distribution_groups: ['developers'],
    }),
    stored(
      'DNSRecord',
      'git',
      { zone: 'zone', name: 'git.in.test', type: 'A', content: '10.0.0.1' },
      { parent: 'zone' },
    ),
  ];
  const shell = { protocol: 'ssh', authorized_groups: { developers: ['deploy'] } };
  const state = snapshotOf([
    ...officeWith(policy('Shell', { ...shell, sources: ['developers'], destinations: ['databases'] })),
    ...named,
  ]);
  const access = compileAccess(state);
  const updatedOn = (...put: readonly StoredObject[]) =>
    updateAccess(
      access,
      state.with({ put, remove: [] }),
      put.map(({ id }) => id),
    );
  const reported = (next: AccessImage) => {
    const ids = ['ana', 'ben', 'db', 'gw'];
    return ids.flatMap((id) => {
      const [was, is] = [networkMapOf(access, id), networkMapOf(next, id)];
      const change = was === undefined || is === undefined ? '' : writtenChange(was, is);
      return change === '' ? [] : [[id, JSON.parse(`{${change}}`)]];
    });
  };
  const route = { network: '0.0.0.0/0', keep_route: false, skip_auto_apply: false };
  const way = { id: 'exit', metric: 100, masquerade: true };

  it('contains the expected peers, rules, routes and zones', () => {
    expect(readMap(access, 'ana')).toEqual({
      self: {
        ...{
          id: 'ana',
          name: 'Peer ana',
          dns_label: 'ana.mesh.test',
          extra_dns_labels: [],
          public_key: '',
          user_id: '',
        },
        ...{ allowed_ips: ['100.64.0.1/32'], ssh_enabled: false, state: 'active', network_ranges: ['100.64.0.0/16'] },
        ...{ reports_traffic: false, may_expose: false },
      },
      settings: expect.objectContaining({ dns_domain: 'mesh.test', auto_update_version: 'disabled' }),
      dns: { managed: true, domain: 'mesh.test', search: ['mesh.test', 'in.test'] },
      peers: [expect.objectContaining({ id: 'db' }), expect.objectContaining({ id: 'gw', dns_label: 'gw.mesh.test' })],
      away: [],
      sets: [{ id: 'databases', peers: ['db'] }],
      outbound: [
        {
          id: 'Shell/main',
          policy: { id: 'Shell', name: 'Shell' },
          rule: { id: 'Shell', name: 'main' },
          ...{ action: 'accept', protocol: 'ssh', ports: [], set: 'databases' },
          authorized_groups: { developers: ['deploy'] },
        },
      ],
      inbound: [],
      routes: [{ id: 'exit', type: 'route', name: 'internet', ...route, ways: [{ ...way, peers: ['gw'] }] }],
      leads: [],
      users: [],
      zones: [
        { id: 'zone', domain: 'in.test', records: [{ name: 'git.in.test', type: 'A', content: '10.0.0.1', ttl: 300 }] },
      ],
      nameservers: [],
      forwards: [],
    });
    expect(readMap(access, 'db')?.users).toEqual([{ id: 'developers', users: ['uma'] }]);
    expect(readMap(access, 'gw')?.leads.map(({ id, rules }) => [id, rules])).toEqual([
      ['exit', [{ id: 'exit', action: 'accept', protocol: 'all', ports: [], set: 'developers' }]],
      ['server', []],
    ]);
    expect(readMap(access, 'nobody')).toBeUndefined();
  });

  it('shares its common part between peers for which that part is equal', () => {
    expect(networkMapOf(access, 'ana')?.shared).toBe(networkMapOf(access, 'ben')?.shared);
    expect(networkMapOf(access, 'ana')?.shared).not.toBe(networkMapOf(access, 'db')?.shared);
  });

  it('changes by an edit of the set when a group gains a member', () => {
    const many = Array.from({ length: 9 }, (_, at) => peer(`x${at}`, `100.64.1.${at}`));
    const members = many.map(({ id }) => id);
    const first = snapshotOf([...state.objects()].concat(many, group('databases', [...members.slice(1), 'db'])));
    const [before, next] = [first, first.with({ put: [group('databases', [...members, 'db'])], remove: [] })];
    const [was, is] = [networkMapOf(compileAccess(before), 'ana'), networkMapOf(compileAccess(next), 'ana')];
    expect(was && is && JSON.parse(`{${writtenChange(was, is)}}`)).toEqual({
      peers: { put: [expect.objectContaining({ id: 'x0' })], remove: [] },
      sets: { put: [], remove: [], edit: [{ id: 'databases', add: ['x0'], remove: [] }] },
    });
  });

  it.each<[string, StoredObject, readonly string[]]>([
    [
      'a record',
      stored(
        'DNSRecord',
        'www',
        { zone: 'zone', name: 'www.in.test', type: 'A', content: '10.0.0.2' },
        { parent: 'zone' },
      ),
      ['ana', 'ben'],
    ],
    [
      'who logs in',
      stored('User', 'uwe', { name: 'Uwe', role: 'user', auto_groups: ['developers'], is_service_user: false }),
      ['db'],
    ],
    [
      'the label of a peer',
      stored('Peer', 'db', { name: 'DB', dns_label: 'data', ip: '100.64.0.3' }),
      ['ana', 'ben', 'db'],
    ],
    ['a name that nobody is told', group('contractors', [], { name: 'Guests' }), []],
    [
      'the description of a policy',
      policy('Shell', { ...shell, sources: ['developers'], destinations: ['databases'] }, { description: 'x' }),
      [],
    ],
    [
      'what clients update to',
      account({ network_range: '100.64.0.0/16', dns_domain: 'mesh.test', auto_update_version: 'latest' }),
      ['ana', 'ben', 'db', 'gw'],
    ],
  ])('changes only for the peers concerned: %s', (_, object, concerned) => {
    const next = updatedOn(object);
    expect(reported(next).map(([id]) => id)).toEqual(concerned);
    const touched = touchedMaps(access, next, [object.id]);
    expect(concerned.filter((id) => !touched.includes(id))).toEqual([]);
  });

  it('is empty for a peer with an expired login, which is listed as away for the others', () => {
    const expired = peer('db', '100.64.0.3');
    const next = updatedOn({ ...expired, derived: { login_expired: true } });
    expect([readMap(next, 'db')?.self['state'], readMap(next, 'db')?.peers]).toEqual(['expired', []]);
    expect(readMap(next, 'ana')).toMatchObject({ peers: [{ id: 'gw' }], away: [{ id: 'db' }] });
    expect(touchedMaps(access, next, ['db'])).toEqual(expect.arrayContaining(['ana', 'ben', 'db']));
  });

  it('is empty for a peer that waits for approval, with the state `waiting`', () => {
    const waiting = updatedOn(stored('Peer', 'ana', { name: 'ana', dns_label: 'ana', approval_required: true }));
    const map = readMap(waiting, 'ana');
    expect(map?.self['state']).toBe('waiting');
    expect([map?.peers, map?.outbound, map?.zones, map?.dns]).toEqual([[], [], [], { managed: false }]);
  });
});
