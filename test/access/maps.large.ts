import { expect, it } from 'vitest';
import { mapDigest, networkMapOf, sharedText } from '../../src/access/netmap/map.ts';
import { touchedMaps } from '../../src/access/netmap/touched.ts';
import { compileAccess, updateAccess } from '../../src/access/ruleset/compile.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import type { StoredObject } from '../../src/model/state/object.ts';
import { group, stateOf, stored } from '../kinds/objects.ts';
import { largeAccount, onAnotherPort } from './large.ts';
import { followChange, parseMap, writtenChange } from './map-reader.ts';

it('the map of each of 400 peers is the same whether computed in one batch or in smaller ones', () => {
  const gateway = { metric: 100, masquerade: true, enabled: true, peer_groups: ['g1', 'g2'] };
  const state = stateOf(
    ...largeAccount({ peers: 400, groups: 20, groupsOfPeer: 2, policies: 40 }),
    stored('DNSZone', 'zone', { name: 'Zone', domain: 'zone.test', distribution_groups: ['g3', 'g4'] }),
    stored('DNSSettings', 'dns', { disabled_management_groups: ['g4', 'g5'] }),
    stored('Network', 'net', { name: 'Net' }),
    stored(
      'NetworkResource',
      'host',
      { network: 'net', name: 'host', address: '10.0.0.1', enabled: true, groups: ['g6'] },
      { parent: 'net' },
    ),
    stored('NetworkRouter', 'router', { network: 'net', ...gateway }, { parent: 'net' }),
    ...['open', 'guarded'].map((id) => {
      const guards = id === 'open' ? [] : ['g8'];
      const spec = { network_id: id, description: '', network: '10.9.0.0/16', keep_route: false, groups: ['g7', 'g9'] };
      return stored('Route', id, { ...spec, ...gateway, access_control_groups: guards });
    }),
  );
  const ids = Array.from({ length: 400 }, (_, at) => `p${at}`);
  const digestsOf = (image: ReturnType<typeof compileAccess>, some: readonly string[]) =>
    some.map((id) => {
      const map = networkMapOf(image, id);
      return map === undefined ? undefined : mapDigest(map);
    });
  // Each of the four new images writes only 100 of the maps, so these maps share fewer cached parts.
  const many = digestsOf(compileAccess(state), ids);
  const alone = [0, 100, 200, 300].flatMap((from) => digestsOf(compileAccess(state), ids.slice(from, from + 100)));
  expect(many).toEqual(alone);
  expect(new Set(many).size).toBe(400);
});

it('incrementally updated maps of peers that all differ equal recompiled ones', () => {
  const sizes = { peers: 60, groups: 12, groupsOfPeer: 3, policies: 45 };
  const objects = largeAccount(sizes);
  const others = largeAccount({ ...sizes, seed: 2 });
  const policy = (nth: number): StoredObject => objects.at(-1 - nth) as StoredObject;
  const dropping = (object: StoredObject): StoredObject => {
    const [rule] = object.spec['rules'] as readonly JsonObject[];
    return stored('Policy', object.id, {
      ...object.spec,
      rules: [{ ...rule, action: 'drop', protocol: 'all', ports: [] }],
    });
  };
  const steps: readonly { readonly put: readonly StoredObject[]; readonly remove: readonly string[] }[] = [
    { put: onAnotherPort([policy(0), policy(1)]), remove: [] },
    { put: [], remove: [policy(2).id] },
    { put: [dropping(policy(3))], remove: [] },
    { put: [group('g3', ['p1', 'p2', 'p3'])], remove: [] },
    { put: [policy(2), policy(3)], remove: [] },
    { put: others.slice(-30), remove: [] },
    { put: [stored('Peer', 'p7', { name: 'Another', dns_label: 'another' })], remove: ['p9'] },
    { put: onAnotherPort(others.slice(-1)), remove: [policy(40).id] },
    { put: [group('g4', ['p1', 'p5']), dropping(policy(5))], remove: [] },
    { put: [policy(40), stored('Peer', 'new', { name: 'New', dns_label: 'new' })], remove: [] },
  ];
  const ids = [...Array.from({ length: 60 }, (_, at) => `p${at}`), 'new'];
  let state = stateOf(...objects);
  let access = compileAccess(state);
  let reported = new Map(ids.map((id) => [id, networkMapOf(access, id)]));
  for (const { put, remove } of steps) {
    const [before, had] = [access, reported];
    const changed = [...put.map(({ id }) => id), ...remove];
    state = state.with({ put, remove });
    access = updateAccess(before, state, changed);
    const fresh = compileAccess(state);
    const touched = new Set(touchedMaps(before, access, changed));
    reported = new Map(ids.map((id) => [id, networkMapOf(access, id)]));
    for (const id of ids) {
      const [was, is, rebuilt] = [had.get(id), reported.get(id), networkMapOf(fresh, id)];
      expect([id, is && mapDigest(is), is && sharedText(is.shared)]).toEqual([
        id,
        rebuilt && mapDigest(rebuilt),
        rebuilt && sharedText(rebuilt.shared),
      ]);
      if (was === undefined || is === undefined) continue;
      const change = writtenChange(was, is);
      expect(followChange(parseMap(was), change)).toEqual(parseMap(is));
      if (!touched.has(id)) expect([id, change]).toEqual([id, '']);
    }
  }
});
