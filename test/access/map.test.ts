import { describe, expect, it } from 'vitest';
import { networkMapOf } from '../../src/access/netmap/map.ts';
import { touchedMaps } from '../../src/access/netmap/touched.ts';
import type { AccessImage } from '../../src/access/ruleset/access.ts';
import { compileAccess, updateAccess } from '../../src/access/ruleset/compile.ts';
import type { StoredObject } from '../../src/model/state/object.ts';
import { account, group, peer, stored } from '../kinds/objects.ts';
import { snapshotOf } from './image.ts';
import { readMap, writtenChange } from './map-reader.ts';
import { officeWith, policy } from './office.ts';

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
