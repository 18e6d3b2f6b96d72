import { describe, expect, it } from 'vitest';
import { accessiblePeers, countAccessiblePeers } from '../../src/access/evaluate/neighbours.ts';
import { reachOf } from '../../src/access/evaluate/reach.ts';
import { touchedPeers } from '../../src/access/evaluate/touched.ts';
import { compileAccess, updateAccess } from '../../src/access/ruleset/compile.ts';
import type { StoredObject } from '../../src/model/state/object.ts';
import { group, peer, stored } from '../kinds/objects.ts';
import { snapshotOf } from './image.ts';
import { accessOf, officeWith, only, policy } from './office.ts';

const toDatabases = { ports: ['5432'], sources: ['developers'], destinations: ['databases'] };

describe('the reach of a peer', () => {
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
    const resource = { type: 'resource', id: 'server', name: 'server', address: '10.20.0.10/32', domains: [] };
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
        { ...resource, ...flags, ways: [{ id: 'router', peers: ['gw'], ...way }] },
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
          ...resource,
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
