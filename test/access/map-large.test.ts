import { expect, it } from 'vitest';
import { compileAccess } from '../../src/access/compile.ts';
import { mapDigest, mapOf } from '../../src/access/map/map.ts';
import { stateOf, stored } from '../kinds/objects.ts';
import { largeAccount } from './large.ts';

it('the map of each of many peers is the same whether it is asked for alone or after hundreds of others', () => {
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
      const map = mapOf(image, id);
      return map === undefined ? undefined : mapDigest(map);
    });
  // Of the second image so few are asked about each time that each is looked at by itself.
  const many = digestsOf(compileAccess(state), ids);
  const alone = [0, 100, 200, 300].flatMap((from) => digestsOf(compileAccess(state), ids.slice(from, from + 100)));
  expect(many).toEqual(alone);
  expect(new Set(many).size).toBe(400);
});
