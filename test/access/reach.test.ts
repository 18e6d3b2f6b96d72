import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { accessiblePeers, countAccessiblePeers } from '../../src/access/evaluate/neighbours.ts';
import { type FirewallRule, type Reach, reachOf } from '../../src/access/evaluate/reach.ts';
import { touchedPeers } from '../../src/access/evaluate/touched.ts';
import type { AccessImage } from '../../src/access/ruleset/access.ts';
import { compileAccess, updateAccess } from '../../src/access/ruleset/compile.ts';
import type { StoredObject } from '../../src/model/state/object.ts';
import { group, peer, stored } from '../kinds/objects.ts';
import { aChange, anAccount, type Change, runs, someObservedPeers } from './account.ts';
import { everybody, snapshotOf } from './image.ts';
import { type Naive, naiveGateways, naiveVerdict, type Probe, probes } from './naive.ts';
import { accessOf, officeWith, only, policy } from './office.ts';

const peers = everybody.filter((id) => id.startsWith('p'));
const proxies = everybody.filter((id) => id.startsWith('x'));
const toDatabases = { ports: ['5432'], sources: ['developers'], destinations: ['databases'] };
const places = everybody.filter((id) => /^[rw]/.test(id));

/** Returns whether the rules allow a connection with a peer. Evaluates them as a firewall does: drop rules first. */
function passes(rules: readonly FirewallRule[], peer: string, { protocol, port }: Probe): boolean {
  const about = (rule: FirewallRule) => {
    const ports = rule.ports.length > 0 || rule.protocol !== 'ssh' ? rule.ports : [{ start: 22, end: 22 }];
    const isPort = ports.length === 0 || ports.some(({ start, end }) => start <= port && port <= end);
    const carries: Record<string, readonly string[]> = {
      ssh: ['ssh', 'tcp'],
      tcp: rule.action === 'drop' ? ['tcp', 'ssh'] : ['tcp'],
    };
    if (rule.protocol === 'all') return true;
    return (carries[rule.protocol] ?? [rule.protocol]).includes(protocol) && isPort;
  };
  return rules.find((rule) => rule.peers.includes(peer) && about(rule))?.action === 'accept';
}

/** Checks that `reach` contains what the peer has to know according to the naive model. */
function expectReach(account: Naive, reach: Reach, access: AccessImage): void {
  const isSure = (from: string, to: string, probe: Probe) => naiveVerdict(account, from, to, probe) === 'allow';
  const reaches = (from: string, to: string) => probes.some((probe) => isSure(from, to, probe));
  const own = reach.peer;
  if (account.observedPeers.expired.has(own)) {
    expect([reach.peers, reach.away, reach.outbound, reach.inbound, reach.uses, reach.serves].flat()).toEqual([]);
    return;
  }
  for (const other of peers.filter((id) => id !== own)) {
    for (const probe of probes) {
      expect([other, probe, passes(reach.outbound, other, probe)]).toEqual([other, probe, isSure(own, other, probe)]);
      expect([other, probe, passes(reach.inbound, other, probe)]).toEqual([other, probe, isSure(other, own, probe)]);
    }
  }
  const leads = (peer: string, place: string) => naiveGateways(account, place).includes(peer);
  const used = places.filter((place) => reaches(own, place) && !leads(own, place));
  const served = places.filter((place) => leads(own, place));
  expect(reach.uses.map(({ id }) => id)).toEqual(used);
  expect(reach.uses.map(({ ways }) => [...new Set(ways.flatMap((way) => way.peers))].sort())).toEqual(
    used.map((place) => [...naiveGateways(account, place)].sort()),
  );
  expect(reach.serves.map(({ id }) => id)).toEqual(served);
  for (const { id, rules } of reach.serves)
    for (const peer of peers)
      for (const probe of probes)
        if (peer !== own)
          expect([id, peer, probe, passes(rules, peer, probe)]).toEqual([id, peer, probe, isSure(peer, id, probe)]);
  const neighbours = peers.filter(
    (peer) =>
      peer !== own &&
      (reaches(own, peer) ||
        reaches(peer, own) ||
        used.some((place) => leads(peer, place)) ||
        served.some((place) => reaches(peer, place) && !leads(peer, place))),
  );
  const met = [...neighbours, ...proxies.filter((id) => reaches(own, id))];
  expect(reach.peers).toEqual(met.filter((id) => !account.observedPeers.expired.has(id)));
  expect(reach.away).toEqual(neighbours.filter((peer) => account.observedPeers.expired.has(peer)));
  const accessible = accessiblePeers(access, own);
  expect(accessible.sure).toEqual(peers.filter((peer) => reaches(own, peer)));
  expect(countAccessiblePeers(access, own)).toBe(accessible.sure.length);
}

describe('the reach of a peer', () => {
  it('contains what the rules permit for certain, and nothing conditional', () => {
    fc.assert(
      fc.property(anAccount, someObservedPeers, (objects, observedPeers) => {
        const access = compileAccess(snapshotOf(objects), observedPeers);
        for (const peer of peers) {
          const reach = reachOf(access, peer);
          expect(reach === undefined).toBe(!objects.some(({ id }) => id === peer));
          if (reach !== undefined) expectReach({ objects, observedPeers }, reach, access);
        }
      }),
      { numRuns: runs(40) },
    );
  });

  it('changes only for peers that are listed as touched', () => {
    const ids = ({ put, remove }: Change) => [...put.map(({ id }) => id), ...remove, ...peers];
    fc.assert(
      fc.property(
        anAccount,
        someObservedPeers,
        fc.array(fc.tuple(aChange, fc.option(someObservedPeers, { nil: undefined })), { maxLength: 4 }),
        (objects, first, steps) => {
          let [state, observedPeers] = [snapshotOf(objects), first];
          let access = compileAccess(state, observedPeers);
          for (const [change, others] of steps) {
            const before = access;
            state = state.with(change);
            observedPeers = others ?? observedPeers;
            access = updateAccess(before, state, ids(change), observedPeers);
            const fresh = compileAccess(state, observedPeers);
            const touched = new Set(touchedPeers(before, access));
            for (const peer of peers) {
              const reach = reachOf(access, peer);
              expect(reach).toEqual(reachOf(fresh, peer));
              if (reach !== undefined && !touched.has(peer)) expect(reach).toEqual(reachOf(before, peer));
            }
          }
        },
      ),
      { numRuns: runs(80) },
    );
  });

  it('lists peers, rules and routes for a gateway and for a peer that uses it', () => {
    const ssh = { protocol: 'ssh', authorized_groups: { developers: ['deploy'] } };
    const access = accessOf(
      officeWith(
        policy('Files', { ports: ['445'], sources: ['developers'], destinations: ['files'] }),
        policy('Shell', { ...ssh, sources: ['developers'], destinations: ['databases'] }),
        policy('Freeze', {
          action: 'drop',
          ports: ['445'],
          sourceResource: only('ben'),
          destinations: ['files', 'databases'],
        }),
      ),
    );
    const shell = {
      policy: { id: 'Shell', name: 'Shell' },
      rule: { id: 'Shell', name: 'main' },
      action: 'accept',
      protocol: 'ssh',
      ports: [],
      authorizedGroups: { developers: ['deploy'] },
    };
    const place = { type: 'resource', id: 'server', name: 'server', address: '10.20.0.10/32', domains: [] };
    const exit = { type: 'route', id: 'exit', name: 'internet', address: '0.0.0.0/0', domains: [] };
    const flags = { keepRoute: false, skipAutoApply: false };
    const way = { metric: 100, masquerade: true };
    expect(reachOf(access, 'ana')).toEqual({
      peer: 'ana',
      peers: ['db', 'gw'],
      away: [],
      outbound: [{ ...shell, peers: ['db'] }],
      inbound: [],
      uses: [
        { ...exit, ...flags, ways: [{ id: 'exit', peers: ['gw'], ...way }] },
        { ...place, ...flags, ways: [{ id: 'router', peers: ['gw'], ...way }] },
      ],
      serves: [],
    });
    const files = { policy: { id: 'Files', name: 'Files' }, rule: { id: 'Files', name: 'main' } };
    const freeze = { policy: { id: 'Freeze', name: 'Freeze' }, rule: { id: 'Freeze', name: 'main' } };
    const port = { protocol: 'tcp', ports: [{ start: 445, end: 445 }] };
    expect(reachOf(access, 'gw')).toEqual({
      peer: 'gw',
      peers: ['ana', 'ben'],
      away: [],
      outbound: [],
      inbound: [],
      uses: [],
      serves: [
        {
          ...exit,
          ...flags,
          ways: [{ id: 'exit', ...way }],
          rules: [{ action: 'accept', protocol: 'all', ports: [], peers: ['ana', 'ben'] }],
        },
        {
          ...place,
          ...flags,
          ways: [{ id: 'router', ...way }],
          rules: [
            { ...freeze, action: 'drop', ...port, peers: ['ben'] },
            { ...files, action: 'accept', ...port, peers: ['ana', 'ben'] },
          ],
        },
      ],
    });
    expect(reachOf(access, 'ben')?.outbound.map(({ action, peers: others }) => [action, others])).toEqual([
      ['drop', ['db']],
      ['accept', ['db']],
    ]);
  });

  it('shares the peer lists of a rule between all peers concerned', () => {
    const access = accessOf(officeWith(policy('Everything', { sources: ['All'], destinations: ['All'] })));
    const lists = ['ana', 'ben', 'db'].map((id) => reachOf(access, id)?.outbound[0]?.peers);
    expect(lists[0]).toEqual(['ana', 'ben', 'db', 'gw']);
    expect(lists.every((list) => list === lists[0])).toBe(true);
  });

  it('is touched by the change of a rule only for the peers of that rule', () => {
    const state = snapshotOf(
      officeWith(
        policy('Data', toDatabases),
        policy('Ping', { protocol: 'icmp', sources: ['All'], destinations: ['All'] }),
      ),
    );
    const access = compileAccess(state);
    const changed = (object: StoredObject) =>
      updateAccess(access, state.with({ put: [object], remove: [] }), [object.id]);
    expect(touchedPeers(access, changed(policy('Data', { ...toDatabases, ports: ['1'] })))).toEqual([
      'ana',
      'ben',
      'db',
    ]);
    expect(touchedPeers(access, changed(group('developers', ['ana'])))).toEqual(['ben', 'db', 'gw']);
    expect(touchedPeers(access, changed(group('contractors', [])))).toEqual([]);
    expect(touchedPeers(access, access)).toEqual([]);
    expect(changed(group('contractors', [])).flows).toBe(access.flows);
  });

  const filesRule = { ports: ['445'], sources: ['developers'], destinationResource: { id: 'server', type: 'host' } };
  const files = policy('Files', filesRule);
  const server = (spec: object) =>
    stored(
      'NetworkResource',
      'server',
      { network: 'net', name: 'server', address: '10.20.0.10', enabled: true, groups: ['files'], ...spec },
      { parent: 'net' },
    );
  const router = (spec: object) =>
    stored(
      'NetworkRouter',
      'router',
      { network: 'net', peer_groups: ['gateways'], metric: 100, masquerade: true, enabled: true, ...spec },
      { parent: 'net' },
    );
  it.each<[string, StoredObject, readonly string[]]>([
    ['the rule that leads there', policy('Files', { ...filesRule, ports: ['139'] }), ['ana', 'ben', 'gw']],
    [
      'a rule that leads there as well',
      policy('More', { ports: ['139'], sources: ['databases'], destinations: ['files'] }),
      ['db', 'gw'],
    ],
    ['its address', server({ address: '10.20.0.11' }), ['ana', 'ben', 'gw']],
    ['its router', router({ metric: 5 }), ['ana', 'ben', 'gw']],
    ['whether it is enabled', server({ enabled: false }), ['ana', 'ben', 'gw']],
    ['whether its router is', router({ enabled: false }), ['ana', 'ben', 'gw']],
    ['who leads there', router({ peer_groups: ['databases'] }), ['ana', 'ben', 'db', 'gw']],
    ['a group of it that nobody names', server({ groups: ['contractors'] }), ['ana', 'ben', 'gw']],
  ])('is touched for gateways and the peers they serve when a resource changes: %s', (_, object, touched) => {
    const state = snapshotOf(officeWith(files));
    const before = compileAccess(state);
    const next = state.with({ put: [object], remove: [] });
    const after = updateAccess(before, next, [object.id]);
    expect(touchedPeers(before, after)).toEqual(touched);
    const fresh = compileAccess(next);
    for (const id of ['ana', 'ben', 'db', 'gw']) expect(reachOf(after, id)).toEqual(reachOf(fresh, id));
  });

  it('is touched on both sides when the destinations of a rule change', () => {
    const state = snapshotOf(officeWith(policy('Data', toDatabases), peer('db2', '100.64.0.5')));
    const before = compileAccess(state);
    const more = group('databases', ['db', 'db2']);
    const after = updateAccess(before, state.with({ put: [more], remove: [] }), ['databases']);
    expect(touchedPeers(before, after)).toEqual(['ana', 'ben', 'db2']);
  });

  it('has a tunnel while drop rules leave any traffic, and none when together they leave nothing', () => {
    const open = policy('Open', { ports: ['80', '443'], sources: ['developers'], destinations: ['databases'] });
    const drop = (id: string, port: string) =>
      policy(id, { action: 'drop', ports: [port], sources: ['developers'], destinations: ['databases'] });
    const peersOf = (...objects: readonly StoredObject[]) => reachOf(accessOf(officeWith(...objects)), 'db')?.peers;
    expect(peersOf(open, drop('a', '80'))).toEqual(['ana', 'ben']);
    expect(peersOf(open, drop('a', '80'), drop('b', '22'))).toEqual(['ana', 'ben']);
    expect(peersOf(open, drop('a', '80'), drop('b', '443'))).toEqual([]);
    const onlyBen = policy('b', {
      action: 'drop',
      ports: ['443'],
      sourceResource: only('ben'),
      destinations: ['databases'],
    });
    expect(peersOf(open, drop('a', '80'), onlyBen)).toEqual(['ana']);
    expect(peersOf(open, policy('a', { action: 'drop', sources: ['developers'], destinations: ['All'] }))).toEqual([]);
  });

  it('is empty for a peer with an expired login, which is listed as away for the others', () => {
    const objects = officeWith(policy('Data', toDatabases));
    const state = snapshotOf(objects);
    const access = compileAccess(state);
    const expired = { ...access.observedPeers, expired: new Set(['ana']) };
    const after = updateAccess(access, state, [], expired);
    expect(touchedPeers(access, after)).toEqual(['ana', 'db', 'gw']);
    expect(reachOf(after, 'ana')).toEqual({
      peer: 'ana',
      peers: [],
      away: [],
      outbound: [],
      inbound: [],
      uses: [],
      serves: [],
    });
    expect(reachOf(after, 'db')).toMatchObject({ peers: ['ben'], away: ['ana'] });
    expect(accessiblePeers(after, 'ana').sure).toEqual(['db']);
  });

  it('lists accessible peers that depend on posture checks separately', () => {
    const checked = policy('Data', { ...toDatabases, bidirectional: true }, { source_posture_checks: ['recent'] });
    const access = accessOf(officeWith(checked), { ana: { clientVersion: '1.5' } });
    expect(accessiblePeers(access, 'db')).toEqual({ sure: ['ana'], conditional: ['ben'] });
    expect(accessiblePeers(access, 'ana')).toEqual({ sure: ['db'], conditional: [] });
    expect(accessiblePeers(access, 'nobody')).toEqual({ sure: [], conditional: [] });
    expect(countAccessiblePeers(access, 'db')).toBe(1);
  });
});
