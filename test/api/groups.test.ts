import { expect, it } from 'vitest';
import { testApi } from './setup.ts';

it('makes, reads, lists, replaces and deletes a group', async () => {
  await using api = await testApi();
  const [ana = '', ben = ''] = await api.peers('ana', 'ben');
  const made = await api.call('POST', '/api/groups', { name: 'developers', peers: [ben, ana] });
  expect(made.status).toBe(200);
  const { id } = made.body;
  expect(made.body).toEqual({
    id,
    name: 'developers',
    issued: 'api',
    peers_count: 2,
    peers: [
      { id: ana, name: 'Peer ana' },
      { id: ben, name: 'Peer ben' },
    ],
    resources_count: 0,
    resources: [],
  });
  expect((await api.call('GET', `/api/groups/${id}`)).body).toEqual(made.body);
  const listed = (await api.call('GET', '/api/groups')).body;
  expect(listed.map((group: { name: string }) => group.name).sort()).toEqual(['All', 'developers']);
  const replaced = await api.call('PUT', `/api/groups/${id}`, { name: 'builders' });
  expect(replaced.body).toEqual({ ...made.body, name: 'builders', peers: [], peers_count: 0 });
  const gone = await api.call('DELETE', `/api/groups/${id}`);
  expect([gone.status, gone.body]).toEqual([200, '']);
  expect((await api.call('GET', `/api/groups/${id}`)).status).toBe(404);
});
