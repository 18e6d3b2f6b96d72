import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import { addCluster, clusters, services } from './reverse-proxy-scene.ts';
import { testApi } from './setup.ts';

describe('private services', () => {
  const rulesOf = (policy: JsonObject) =>
    (policy['rules'] as readonly JsonObject[]).map(
      ({ sources, destinations, protocol, ports, action, bidirectional }) => ({
        sources: (sources as readonly JsonObject[]).map(({ name }) => name),
        destinations: (destinations as readonly JsonObject[]).map(({ name }) => name),
        ...{ protocol, ports, action, bidirectional },
      }),
    );

  it('have an access policy that only a change of the service changes or deletes', async () => {
    await using api = await testApi();
    const group = await api.group('staff');
    const second = await api.group('guests');
    await addCluster(api, 'proxy.example.com');
    await addCluster(api, 'other.example.com');
    const policies = async (): Promise<readonly JsonObject[]> =>
      (await api.call('GET', '/api/policies')).body.filter(({ name }: JsonObject) =>
        String(name).startsWith('Access to'),
      );
    const groups = async () => (await api.call('GET', '/api/groups')).body.map(({ name }: JsonObject) => name).sort();
    const given = {
      name: 'Wiki',
      domain: 'wiki.proxy.example.com',
      enabled: true,
      private: true,
      access_groups: [group],
    };
    const { id } = (await api.call('POST', services, given)).body;
    const [policy = {}] = await policies();
    expect(policy).toMatchObject({ name: 'Access to Wiki', enabled: true, source_posture_checks: [] });
    expect(policy['description']).toContain('Wiki (wiki.proxy.example.com)');
    expect(rulesOf(policy)).toEqual([
      {
        sources: ['staff'],
        destinations: ['Proxies of proxy.example.com'],
        protocol: 'tcp',
        ports: ['80', '443'],
        action: 'accept',
        bidirectional: false,
      },
    ]);
    expect(await groups()).toEqual(['All', 'Proxies of proxy.example.com', 'guests', 'staff']);

    const url = `/api/policies/${policy['id']}`;
    for (const refused of [await api.call('PUT', url, { ...policy, name: 'Mine' }), await api.call('DELETE', url)]) {
      expect(refused.status).toBe(409);
      expect(refused.body.message).toContain('change or delete that service instead');
    }
    expect((await api.call('PUT', url, policy)).status).toBe(200);
    const proxies = (await api.call('GET', '/api/groups?name=Proxies%20of%20proxy.example.com')).body[0];
    expect((await api.call('PUT', `/api/groups/${proxies.id}`, { name: 'Mine' })).status).toBe(422);
    expect((await api.call('DELETE', `/api/groups/${proxies.id}`)).status).toBe(400);
    const exported = await api.call('GET', '/api/config/export');
    expect(exported.body).toContain('kind: ProxyService');
    expect(exported.body).not.toMatch(/Access to|kind: Group\nmetadata:\n {2}name: proxies/);

    await api.call('PUT', `${services}/${id}`, {
      ...given,
      name: 'Handbook',
      enabled: false,
      access_groups: [group, second],
    });
    expect(await policies()).toMatchObject([{ id: policy['id'], name: 'Access to Handbook', enabled: false }]);
    expect(rulesOf((await policies())[0] ?? {})[0]?.sources).toEqual(expect.arrayContaining(['staff', 'guests']));
    await api.call('PUT', `${services}/${id}`, { ...given, domain: 'wiki.other.example.com' });
    expect(rulesOf((await policies())[0] ?? {})[0]?.destinations).toEqual(['Proxies of other.example.com']);
    await api.call('PUT', `${services}/${id}`, { ...given, private: false });
    expect(await policies()).toEqual([]);
    await api.call('PUT', `${services}/${id}`, given);
    expect((await policies()).length).toBe(1);
    await api.call('DELETE', `${services}/${id}`);
    expect(await policies()).toEqual([]);
  });

  it('get their access policy when their cluster exists, and lose it with the cluster', async () => {
    await using api = await testApi();
    const group = await api.group('staff');
    const given = { enabled: true, private: true, access_groups: [group] };
    for (const name of ['one', 'two'])
      await api.call('POST', services, { ...given, name, domain: `${name}.proxy.example.com` });
    const destinations = async () =>
      (await api.call('GET', '/api/policies')).body
        .filter(({ name }: JsonObject) => String(name).startsWith('Access to'))
        .map((policy: JsonObject) => `${policy['name']}: ${rulesOf(policy)[0]?.destinations.join()}`)
        .sort();
    expect(await destinations()).toEqual([]);
    await addCluster(api, 'example.com');
    expect(await destinations()).toEqual([
      'Access to one: Proxies of example.com',
      'Access to two: Proxies of example.com',
    ]);
    await addCluster(api, 'proxy.example.com');
    expect(await destinations()).toEqual([
      'Access to one: Proxies of proxy.example.com',
      'Access to two: Proxies of proxy.example.com',
    ]);
    expect((await api.call('DELETE', `${clusters}/proxy.example.com`)).status).toBe(200);
    expect(await destinations()).toEqual([
      'Access to one: Proxies of example.com',
      'Access to two: Proxies of example.com',
    ]);
    expect((await api.call('DELETE', `${clusters}/example.com`)).status).toBe(200);
    expect(await destinations()).toEqual([]);
    expect((await api.call('GET', '/api/groups')).body.map(({ name }: JsonObject) => name).sort()).toEqual([
      'All',
      'staff',
    ]);
  });
});
