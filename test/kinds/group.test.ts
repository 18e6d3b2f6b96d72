import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import type { StoredObject } from '../../src/model/state/object.ts';
import { account, all, group, peer, registry, stateOf, stored } from './objects.ts';

const kind = registry.get('Group');
const ana = peer('ana-laptop', '100.72.0.2');
const build = peer('build-server', '100.72.0.3');

function computed(name: string, object: StoredObject, ...others: readonly StoredObject[]): unknown {
  return kind.computed[name]?.value(object, stateOf(object, ...others));
}

describe('the name of a group', () => {
  const nameOf = (derived: JsonObject) => kind.uniques['name']?.value(group('devs', [], { derived }));

  it.each([
    ['made by people or documents', {}, 'devs'],
    ['made through the API', { issued: 'api' }, 'devs'],
    ['brought by an identity provider', { issued: 'jwt' }, undefined],
    ['brought by a directory', { issued: 'integration' }, undefined],
  ])('is unique unless the group comes from an identity provider or a directory: %s, %j', (_, derived, value) => {
    expect(nameOf(derived)).toBe(value);
  });

  it('is refused as a duplicate with a message that contains "already exists"', () => {
    expect(kind.uniques['name']?.message('devs')).toContain('already exists');
  });

  it('belongs to one group, even if an identity provider issued another with the same name', () => {
    const state = stateOf(group('a', [], { name: 'devs', derived: { issued: 'jwt' } }), group('devs'));
    expect(state.findByUnique('Group', 'name', 'devs')?.id).toBe('devs');
  });
});

describe('computed fields of a group', () => {
  const resource = stored('Peer', 'r', { name: 'r', dns_label: 'r', ip: '10.0.0.1' });

  it('count its peers', () => {
    expect(computed('peers_count', group('devs', ['ana-laptop', 'build-server']), ana, build, resource)).toBe(2);
    expect(computed('peers_count', group('devs'), ana)).toBe(0);
  });

  it('count every peer for All, which stores no members', () => {
    expect(computed('peers_count', all, ana, build)).toBe(2);
  });

  it('list every peer for All and leave the responses of other groups unchanged', () => {
    const state = stateOf(all, ana, build);
    const peers = [
      { id: 'ana-laptop', name: 'Peer ana-laptop' },
      { id: 'build-server', name: 'Peer build-server' },
    ];
    expect(kind.respond?.({ id: 'All', peers: [] }, all, state, registry.installation)).toEqual({ id: 'All', peers });
    expect(kind.respond?.({ id: 'devs', peers: [] }, group('devs'), state, registry.installation)).toEqual({
      id: 'devs',
      peers: [],
    });
  });

  it('state who issued it, `api` by default', () => {
    expect(computed('issued', group('devs'))).toBe('api');
    expect(computed('issued', group('devs', [], { derived: { issued: 'jwt' } }))).toBe('jwt');
  });

  it('list no resources while none belongs to the group', () => {
    const zone = stored('DNSZone', 'z', { name: 'z', domain: 'example.com', distribution_groups: ['devs'] });
    expect(computed('resources', group('devs'), zone)).toEqual([]);
    expect(computed('resources_count', group('devs'), zone)).toBe(0);
  });
});

describe('the network resources of a group', () => {
  const resource = (id: string, address: string, groups: readonly string[]): StoredObject =>
    stored('NetworkResource', id, { network: 'office', name: id, address, groups }, { parent: 'office' });
  const state = stateOf(
    stored('Network', 'office', { name: 'Office' }),
    group('devs'),
    group('ops'),
    resource('r1', '10.0.0.7/32', ['devs']),
    resource('r2', '10.0.0.0/24', ['devs', 'ops']),
    resource('r3', '*.example.com', ['devs']),
    resource('r4', '2001:db8::1', ['ops']),
  );

  it('are those that name the group, each with the type of its address', () => {
    expect(kind.computed['resources']?.value(group('devs'), state)).toEqual([
      { id: 'r1', type: 'host' },
      { id: 'r2', type: 'subnet' },
      { id: 'r3', type: 'domain' },
    ]);
    expect(kind.computed['resources']?.value(group('ops'), state)).toEqual([
      { id: 'r2', type: 'subnet' },
      { id: 'r4', type: 'host' },
    ]);
    expect(kind.computed['resources_count']?.value(group('devs'), state)).toBe(3);
  });
});

describe('the resources in a request for a group', () => {
  const office = stored('Network', 'office', { name: 'Office' });
  const resource = (id: string, groups: readonly string[]): StoredObject =>
    stored('NetworkResource', id, { network: 'office', name: id, address: '10.0.0.7', groups }, { parent: 'office' });
  const state = stateOf(
    office,
    all,
    ana,
    group('devs'),
    group('ops'),
    resource('r1', ['devs']),
    resource('r2', ['ops']),
  );
  const follow = (after: StoredObject | undefined, given?: JsonObject) =>
    kind
      .derivedChanges?.(
        { ...(after === undefined ? {} : { after }), ...(given === undefined ? {} : { given }), newId: () => '' },
        state,
      )
      .map((edit) => ('change' in edit ? [edit.change.id, edit.spec?.['groups'] ?? edit.members] : edit));
  const resources = (...ids: readonly string[]) => ({ resources: ids.map((id) => ({ id, type: 'host' })) });

  it.each<readonly [string, JsonObject | undefined, readonly unknown[]]>([
    ['the ones it has change nothing', resources('r1'), []],
    ['one more joins', resources('r1', 'r2'), [['r2', ['devs', 'ops']]]],
    [
      'another one takes its place',
      resources('r2'),
      [
        ['r1', []],
        ['r2', ['devs', 'ops']],
      ],
    ],
    ['none leaves it empty', { resources: [] }, [['r1', []]]],
    ['nothing said, as documents do, changes nothing', undefined, []],
    ['blank ones are none', { resources: [null, { id: 'r1', type: 'host' }] }, []],
    ['the same one twice joins once', resources('r1', 'r2', 'r2'), [['r2', ['devs', 'ops']]]],
    [
      'a peer joins as a peer',
      {
        resources: [
          { id: 'ana-laptop', type: 'peer' },
          { id: 'r1', type: 'host' },
        ],
      },
      [['devs', { peers: [['ana-laptop', ['api']]] }]],
    ],
  ])('%s', (_, given, edits) => {
    expect(follow(group('devs'), given)).toEqual(edits);
  });

  it('are ignored for All and for a deleted group', () => {
    expect(follow(all, { resources: [{ id: 'ana-laptop', type: 'peer' }] })).toEqual([]);
    expect(follow(undefined, resources('r2'))).toEqual([]);
  });
});

describe('the group All', () => {
  it.each(['update', 'delete'] as const)('refuses %s with a message that names the group', (action) => {
    expect(kind.refuse?.(all, action)).toMatch(/group All .* cannot be/);
    expect(kind.refuse?.(group('devs'), action)).toBeUndefined();
  });

  it('is the system group; another group with the name All is not', () => {
    expect(kind.isSystem?.(all)).toBe(true);
    expect(kind.isSystem?.(group('All'))).toBe(false);
  });
});

describe('events of a group', () => {
  const state = stateOf(account({ dns_domain: 'mesh.example.com' }), ana, build);
  const meta = { group: 'devs', group_id: 'devs', peer_ip: '100.72.0.2', peer_fqdn: 'ana-laptop.mesh.example.com' };

  it('name each peer of a new group', () => {
    const events = kind.createEvents?.(group('devs', ['ana-laptop']), state);
    expect(events).toEqual([{ code: 'peer.group.add', target: 'ana-laptop', meta }]);
  });

  it('name each peer that was added or removed', () => {
    const events = kind.updateEvents?.(group('devs', ['ana-laptop']), group('devs', ['build-server']), state);
    expect(events?.map(({ code, target }) => [code, target])).toEqual([
      ['peer.group.add', 'build-server'],
      ['peer.group.delete', 'ana-laptop'],
    ]);
  });

  it('include an update only on a rename', () => {
    const renamed = group('devs', ['ana-laptop'], { name: 'developers' });
    expect(kind.updateEvents?.(group('devs', ['ana-laptop']), renamed, state)).toEqual([
      { code: 'group.update', meta: { old_name: 'devs', new_name: 'developers' } },
    ]);
    expect(kind.updateEvents?.(group('devs'), group('devs'), state)).toEqual([]);
  });

  it('omit the address of a peer that no longer exists', () => {
    const events = kind.updateEvents?.(group('devs', ['gone']), group('devs'), state);
    expect(events).toEqual([{ code: 'peer.group.delete', target: 'gone', meta: { group: 'devs', group_id: 'devs' } }]);
  });

  it('use the domain of the installation, then the built-in one, if the account has none', () => {
    const fqdn = (...objects: readonly StoredObject[]) =>
      kind.createEvents?.(group('devs', ['ana-laptop']), stateOf(ana, ...objects))[0]?.meta['peer_fqdn'];
    expect(fqdn({ ...account(), derived: { peer_dns_domain: 'mesh.test' } })).toBe('ana-laptop.mesh.test');
    expect(fqdn(account())).toBe('ana-laptop.heddle.internal');
  });
});
