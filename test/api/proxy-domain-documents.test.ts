import { describe, expect, it } from 'vitest';
import { doc } from './documents.ts';
import { openDomainScene, runChecks, service } from './proxy-domain-scene.ts';
import { addCluster, services } from './reverse-proxy-scene.ts';

describe('documents of custom domains', () => {
  const domain = doc('ProxyDomain', 'apps', 'domain: apps.example.org\ntarget_cluster: proxy.example.com');
  const shop = doc('ProxyService', 'shop', 'name: Shop\ndomain: shop.apps.example.org');
  const files = (...texts: readonly string[]) => ({ files: texts.map((text, at) => ({ path: `${at}.yaml`, text })) });

  it('create, redirect and delete a domain, and contain no result of its checks', async () => {
    const { api, prove, read } = await openDomainScene();
    const apply = (...texts: readonly string[]) =>
      api.call('POST', '/api/config/apply', { source: 'team', allowEmpty: true, ...files(...texts) });
    expect((await apply(domain, shop)).status).toBe(200);
    prove(await read('apps.example.org'));
    runChecks(api.engine);
    await expect.poll(async () => (await read('apps.example.org'))['status']).toBe('validated');
    const revision = await api.revision();
    expect((await apply(domain, shop)).body.plan.changes).toEqual([]);
    expect(await api.revision()).toBe(revision);
    const exported = await api.call('GET', '/api/config/export');
    expect(JSON.stringify(exported.body)).not.toMatch(/validated|heddle-domain=/);
    expect((await apply(domain.replace('proxy.', 'other.'), shop)).status).toBe(200);
    expect(await read('apps.example.org')).toMatchObject({ target_cluster: 'other.example.com' });
    expect((await apply()).status).toBe(200);
    expect(await read('apps.example.org')).toEqual({});
  });

  it('are refused when they move services to a cluster where their ports are taken', async () => {
    const { api, read } = await openDomainScene();
    await addCluster(api, 'other.example.com', { supports_custom_ports: true });
    const [peer = ''] = await api.peers('db');
    const target = { target_id: peer, target_type: 'peer', protocol: 'tcp', port: 5432, enabled: true };
    const tcp = { mode: 'tcp', listen_port: 5432, targets: [target] };
    const apply = (text: string) => api.call('POST', '/api/config/apply', { source: 'team', ...files(text) });
    expect((await apply(domain)).status).toBe(200);
    const moving = await api.call('POST', services, service('db.apps.example.org', tcp));
    const settled = await api.call('POST', services, service('db.other.example.com', tcp));
    expect([moving.status, settled.status]).toEqual([200, 200]);
    const elsewhere = domain.replace('proxy.example.com', 'other.example.com');
    const refused = await apply(elsewhere);
    expect([refused.status, refused.body.message]).toEqual([
      409,
      expect.stringContaining(
        'a service on port 5432 already exists on this cluster (`db.other.example.com`), and the domain would move `db.apps.example.org` there too',
      ),
    ]);
    expect(await read('apps.example.org')).toMatchObject({ target_cluster: 'proxy.example.com' });
    const free = { ...service('db.other.example.com', tcp), listen_port: 5433 };
    expect((await api.call('PUT', `${services}/${settled.body.id}`, free)).status).toBe(200);
    expect((await apply(elsewhere)).status).toBe(200);
  });

  it('leave a domain in place, with a warning, that other services use', async () => {
    const { api, read } = await openDomainScene();
    const apply = (...texts: readonly string[]) =>
      api.call('POST', '/api/config/apply', { source: 'team', allowEmpty: true, ...files(...texts) });
    await apply(domain);
    await api.call('POST', services, service('shop.apps.example.org'));
    const pruned = await apply();
    expect(pruned.body.plan.warnings).toMatchObject([
      { code: 'in_use', usedBy: ['proxy service: shop.apps.example.org'] },
    ]);
    expect(await read('apps.example.org')).toMatchObject({ status: 'pending' });
  });
});
