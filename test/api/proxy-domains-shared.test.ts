import { describe, expect, it } from 'vitest';
import { cname, domains, offered, openDomainScene, runChecks, service } from './proxy-domain-scene.ts';
import { services } from './reverse-proxy-scene.ts';

describe('a domain that two accounts added', () => {
  it('belongs to the account that first proves it with a TXT record', async () => {
    const { api, add, read, prove, neighbour, names } = await openDomainScene();
    const { headers } = await neighbour();
    const ours = await add('apps.example.org');
    const theirs = await add('apps.example.org', {}, headers);
    expect(theirs['txt_value']).not.toBe(ours['txt_value']);
    runChecks(api.engine, { everyMs: 50, firstRetryMs: 10 });
    prove(theirs);
    await expect.poll(async () => (await read('apps.example.org', headers))['status']).toBe('validated');
    // Both TXT values are published: the account that proved the domain first keeps it.
    const both = [theirs, ours].map(({ txt_value }) => [String(txt_value)]);
    names.records.set(String(ours['txt_name']), { txt: both });
    await expect
      .poll(async () => (await read('apps.example.org'))['message'])
      .toBe(
        'another account of this server has proved the ownership of apps.example.org; have the domain deleted there and its record removed',
      );
    await api.call('DELETE', `${domains}/${ours.id}`);
    const again = await api.call('POST', domains, { domain: 'apps.example.org', target_cluster: 'proxy.example.com' });
    expect([again.status, again.body.message]).toEqual([409, expect.stringContaining('which has proved it')]);
    await api.call('DELETE', `${domains}/${theirs.id}`, undefined, headers);
    prove(await add('apps.example.org'));
    await expect.poll(async () => (await read('apps.example.org'))['status']).toBe('validated');
  });

  it('moves by a TXT record away from an account with only a CNAME record or a lapsed proof', async () => {
    const scene = await openDomainScene();
    const { api, add, read, prove, neighbour, names, events } = scene;
    const { headers } = await neighbour();
    await add('apps.example.org');
    await api.call('POST', services, service('shop.apps.example.org'));
    names.records.set('apps.example.org', cname('proxy.example.com'));
    runChecks(api.engine, { everyMs: 50, firstRetryMs: 10 });
    await expect.poll(async () => (await read('apps.example.org'))['status']).toBe('validated');
    const theirs = await add('apps.example.org', {}, headers);
    await expect
      .poll(async () => (await read('apps.example.org', headers))['message'])
      .toContain('add the TXT record, which takes precedence over a CNAME record');
    prove(theirs);
    await expect.poll(async () => (await read('apps.example.org', headers))['status']).toBe('validated');
    await expect.poll(async () => (await read('apps.example.org'))['status']).toBe('pending');
    expect(await offered(scene)).toEqual([]);
    expect(await events('domain.lapse')).toHaveLength(1);
    names.records.delete(String(theirs['txt_name']));
    names.records.delete('apps.example.org');
    await expect.poll(async () => (await read('apps.example.org', headers))['status']).toBe('lapsed');
    names.records.set('apps.example.org', cname('proxy.example.com'));
    await expect
      .poll(async () => [
        (await read('apps.example.org'))['status'],
        (await read('apps.example.org', headers))['status'],
      ])
      .toContain('validated');
  });
});
