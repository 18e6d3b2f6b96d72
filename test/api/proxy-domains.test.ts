import { describe, expect, it } from 'vitest';
import { createMissingDomains, findDueDomains } from '../../src/db/proxy/domains.ts';
import { followServices } from '../../src/features/proxy/services.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { rowsOf } from '../commit/office.ts';
import { problemsOf } from './problems.ts';
import {
  cname,
  type DomainScene,
  domains,
  offered,
  openDomainScene,
  runChecks,
  service,
  sharedDomainScene,
} from './proxy-domain-scene.ts';
import { services } from './reverse-proxy-scene.ts';
import { apiOn } from './setup.ts';

const openShared = sharedDomainScene();

describe('a custom domain', () => {
  it('is listed with the TXT record that proves it, before the addresses of the clusters', async () => {
    const { api, add } = await openShared();
    const made = await add('Apps.Example.ORG.');
    expect(made).toEqual({
      ...{ id: expect.any(String), domain: 'Apps.Example.ORG.', target_cluster: 'proxy.example.com', type: 'custom' },
      ...{ validated: false, status: 'pending', txt_name: '_heddle-domain.apps.example.org' },
      txt_value: expect.stringMatching(/^heddle-domain=[\da-f]{40}$/),
      ...{ supports_custom_ports: true, require_subdomain: false, supports_reputation: false, private: false },
    });
    const { txt_name: _, txt_value: __, ...free } = made;
    const address = 'proxy.example.com';
    expect((await api.call('GET', domains)).body).toEqual([
      made,
      { ...free, id: '', domain: address, type: 'free', validated: true, status: 'validated' },
    ]);
    expect((await add('other.example.org'))['txt_value']).not.toBe(made['txt_value']);
    const [added] = (await api.call('GET', '/api/events/audit')).body;
    expect([added.activity_code, added.meta]).toEqual([
      'domain.add',
      { domain: 'other.example.org', target_cluster: 'proxy.example.com' },
    ]);
  });

  it('is deleted with 204, and answers 404 afterwards', async () => {
    const { api, add, events } = await openShared();
    const { id } = await add('apps.example.org');
    const gone = await api.call('DELETE', `${domains}/${id}`);
    expect([gone.status, gone.body]).toEqual([204, '']);
    for (const [method, path] of [
      ['DELETE', id],
      ['GET', `${id}/validate`],
    ] as const) {
      const answer = await api.call(method, `${domains}/${path}`);
      expect([answer.status, answer.body.message]).toEqual([404, `proxy domain ${id} not found`]);
    }
    expect(await events('domain.delete')).toHaveLength(1);
  });

  it.each<readonly [string, JsonObject, number, string]>([
    ['no domain', { target_cluster: 'proxy.example.com' }, 422, 'field_required '],
    ['no cluster', { domain: 'a.example.org' }, 422, 'field_required '],
    ['no name', { domain: 'not a name' }, 422, 'domain_invalid /domain'],
    ['a wildcard', { domain: '*.example.org' }, 422, 'domain_invalid /domain'],
    ['a name too long for its proof', { domain: `${'a'.repeat(60)}.`.repeat(4) }, 422, 'value_too_long /domain'],
    ['the address of a cluster', { domain: 'proxy.example.com' }, 422, 'domain_of_cluster /domain'],
    ['a name below it', { domain: 'a.b.proxy.example.com' }, 422, 'domain_of_cluster /domain'],
    ['a name that is there', { domain: 'taken.example.org' }, 409, 'value_taken /domain'],
  ])('is refused with %s', async (_, body, status, problem) => {
    const { api, add } = await openShared();
    await add('taken.example.org');
    const cluster = problem === 'field_required ' ? {} : { target_cluster: 'proxy.example.com' };
    const answer = await api.call('POST', domains, { ...cluster, ...body });
    expect([answer.status, problemsOf(answer)]).toEqual([status, [problem]]);
  });

  it('may point to a cluster that does not exist yet', async () => {
    const { add, names, read, prove, api } = await openShared();
    const made = await add('apps.example.org', { target_cluster: 'later.example.com' });
    expect(made).not.toHaveProperty('private');
    names.records.set('apps.example.org', cname('later.example.com'));
    runChecks(api.engine, { firstRetryMs: 30 });
    await expect
      .poll(async () => (await read('apps.example.org'))['message'])
      .toContain('and a CNAME record proves nothing while the account has no cluster later.example.com');
    prove(made);
    await expect.poll(async () => (await read('apps.example.org'))['status']).toBe('validated');
  });
});

describe('the validation of a custom domain', () => {
  it.each<readonly [string, (names: DomainScene['names'], made: JsonObject) => unknown]>([
    [
      'the TXT record',
      ({ records }, made) => records.set(String(made['txt_name']), { txt: [[String(made['txt_value'])]] }),
    ],
    ['a CNAME record', ({ records }) => records.set('apps.example.org', cname('proxy.example.com'))],
    [
      'one that leads below the cluster',
      ({ records }) => records.set('apps.example.org', cname('EU1.proxy.example.com')),
    ],
    ['a wildcard CNAME record', ({ records }) => records.set('*.apps.example.org', cname('proxy.example.com'))],
  ])('succeeds with %s', async (_, put) => {
    const { api, add, names, read, events } = await openShared();
    const made = await add('apps.example.org');
    put(names, made);
    runChecks(api.engine);
    await expect.poll(async () => (await read('apps.example.org'))['validated']).toBe(true);
    const shown = await read('apps.example.org');
    expect(shown).toEqual({ ...made, validated: true, status: 'validated', checked_at: expect.any(String) });
    expect((await events('domain.validate')).map(({ meta }) => meta)).toEqual([
      { domain: 'apps.example.org', target_cluster: 'proxy.example.com', validated: 'true' },
    ]);
  });

  it.each<readonly [string, (names: DomainScene['names']) => unknown, string]>([
    [
      'nothing',
      () => undefined,
      '(there is none), and no CNAME record of apps.example.org or *.apps.example.org points to proxy.example.com (there is none); add one of them',
    ],
    [
      'another text',
      ({ records }) => records.set('_heddle-domain.apps.example.org', { txt: [['heddle-domain=`\u0007é']] }),
      '(it says `heddle-domain=???`), and',
    ],
    [
      'several texts',
      ({ records }) => records.set('_heddle-domain.apps.example.org', { txt: [['a'], ['b']] }),
      '(there are 2 of them, none is this one), and',
    ],
    [
      'a long text',
      ({ records }) => records.set('_heddle-domain.apps.example.org', { txt: [['x'.repeat(255), 'y']] }),
      `(it says \`${'x'.repeat(100)}…\`), and`,
    ],
    [
      'another target',
      ({ records }) => records.set('apps.example.org', cname('shop.example.net')),
      '(it points to shop.example.net); add one of them',
    ],
    [
      'a name that ends alike',
      ({ records }) => records.set('apps.example.org', cname('evilproxy.example.com')),
      '(it points to evilproxy.example.com)',
    ],
    [
      'a failing name server',
      ({ records }) => records.set('_heddle-domain.apps.example.org', { code: 2 }),
      '(no name server answers), and',
    ],
    [
      'a silent name server',
      ({ records }) => records.set('apps.example.org', { silent: true }),
      '(no name server answers); add one of them',
    ],
  ])('fails with %s', async (_, put, message) => {
    const { api, add, names, read } = await openShared();
    const { txt_value } = await add('apps.example.org');
    put(names);
    runChecks(api.engine);
    await expect.poll(async () => (await read('apps.example.org'))['message']).toContain(message);
    const shown = await read('apps.example.org');
    expect(shown).toMatchObject({ validated: false, status: 'pending' });
    expect(shown['message']).toContain(
      `the TXT record _heddle-domain.apps.example.org does not contain \`${txt_value}\``,
    );
    const status = (await api.call('GET', '/api/config/status')).body;
    expect(status.domains).toEqual([{ id: expect.any(String), domain: 'apps.example.org', message: shown['message'] }]);
  });

  it('runs at once on request, and at most once in a few seconds', async () => {
    const { api, add, names, prove, read } = await openShared();
    const made = await add('apps.example.org');
    runChecks(api.engine);
    await expect.poll(async () => (await read('apps.example.org'))['message']).toBeDefined();
    prove(made);
    await api.engine.database.asOwner(["update proxy_domains set checked_at = checked_at - interval '1 minute'"]);
    const answer = await api.call('GET', `${domains}/${made.id}/validate`);
    expect([answer.status, answer.body]).toEqual([202, '']);
    await expect.poll(async () => (await read('apps.example.org'))['validated']).toBe(true);
    const asked = names.asked.length;
    for (let time = 0; time < 5; time += 1) await api.call('GET', `${domains}/${made.id}/validate`);
    const [row] = await api.engine.database.lookUp<{ readonly later: boolean }>({
      ...{ sql: 'select next_at > clock_timestamp() as later from proxy_domains', parameters: [] },
    } as never);
    expect([row?.later, names.asked.length]).toEqual([true, asked]);
  });

  it('runs on one of two servers, and on the other one when that stops', async () => {
    const scene = await openShared();
    const { api, add, dns, names, prove, read } = scene;
    await using second = await apiOn(api.engine.database, async () => {}, dns);
    const first = runChecks(api.engine, { everyMs: 40, firstRetryMs: 40 });
    const other = runChecks(second.engine, { everyMs: 40, firstRetryMs: 40 });
    prove(await add('apps.example.org'));
    await expect.poll(async () => (await read('apps.example.org'))['validated']).toBe(true);
    await first.stop();
    const before = names.asked.length;
    await expect.poll(() => names.asked.length).toBeGreaterThan(before);
    expect(await scene.events('domain.validate')).toHaveLength(1);
    expect([first.reports, other.reports]).toEqual([[], []]);
  });
});

describe('services of a custom domain', () => {
  it('are offered to proxies once the domain is validated', async () => {
    const scene = await openShared();
    const { api, add, prove, read } = scene;
    const made = await add('apps.example.org');
    const { body } = await api.call('POST', services, service('shop.apps.example.org'));
    expect(body).not.toHaveProperty('proxy_cluster');
    await api.call('POST', services, service('free.proxy.example.com'));
    expect(await offered(scene)).toEqual(['free.proxy.example.com']);
    const reader = followServices(api.engine, { account: api.account, cluster: scene.cluster, id: 'b', token: 't' });
    await reader.next();
    prove(made);
    runChecks(api.engine);
    await expect.poll(async () => (await read('apps.example.org'))['validated']).toBe(true);
    expect((await reader.next())?.data).toMatchObject({ put: [{ domain: 'shop.apps.example.org' }], removed: [] });
    expect(await reader.next()).toBeUndefined();
    const shown = (await api.call('GET', `${services}/${body.id}`)).body;
    expect(shown.proxy_cluster).toBe('proxy.example.com');
  });

  it('continue when the record vanishes, which an event and the status `lapsed` report', async () => {
    const scene = await openShared();
    const { api, add, names, prove, read, events } = scene;
    const made = await add('apps.example.org');
    await api.call('POST', services, service('shop.apps.example.org'));
    prove(made);
    const checks = runChecks(api.engine, { everyMs: 50, firstRetryMs: 10 });
    await expect.poll(async () => (await read('apps.example.org'))['status']).toBe('validated');
    // A failing name server is no evidence about the record, so the domain stays validated.
    names.records.set(String(made['txt_name']), { code: 2 });
    await expect.poll(async () => (await read('apps.example.org'))['message']).toContain('no name server answers');
    const asked = names.asked.length;
    await expect.poll(() => names.asked.length).toBeGreaterThan(asked + 12);
    expect((await read('apps.example.org'))['status']).toBe('validated');
    names.records.delete(String(made['txt_name']));
    await expect.poll(async () => (await read('apps.example.org'))['status']).toBe('lapsed');
    expect(await offered(scene)).toEqual(['shop.apps.example.org']);
    expect((await events('domain.lapse')).map(({ meta }) => meta)).toEqual([
      {
        ...{ domain: 'apps.example.org', target_cluster: 'proxy.example.com', validated: 'false' },
        reason: expect.stringContaining('(there is none)'),
      },
    ]);
    // The result of the check is kept across a restart, and the record proves the domain again.
    await checks.stop();
    await using restarted = await apiOn(api.engine.database, async () => {}, scene.dns);
    expect((await restarted.call('GET', domains)).body[0].status).toBe('lapsed');
    prove(made);
    runChecks(restarted.engine, { everyMs: 50, firstRetryMs: 10 });
    await expect.poll(async () => (await read('apps.example.org'))['status']).toBe('validated');
    expect(await events('domain.validate')).toHaveLength(2);
  });

  it('keep the domain from being deleted', async () => {
    const { api, add } = await openShared();
    const outer = await add('example.org');
    const { id } = await add('apps.example.org');
    const made = await api.call('POST', services, service('shop.apps.example.org'));
    const refused = await api.call('DELETE', `${domains}/${id}`);
    expect([refused.status, refused.body.message]).toEqual([
      409,
      expect.stringContaining('has been linked to proxy service: shop.apps.example.org; remove it there first'),
    ]);
    // The service belongs to the longer domain, so the shorter one can be deleted.
    expect((await api.call('DELETE', `${domains}/${outer.id}`)).status).toBe(204);
    await api.call('DELETE', `${services}/${made.body.id}`);
    expect((await api.call('DELETE', `${domains}/${id}`)).status).toBe(204);
  });

  it('stay writable when they were stored before the domain was added', async () => {
    const { api, add } = await openShared();
    const { body } = await api.call('POST', services, service('shop.apps.example.org'));
    await add('apps.example.org');
    const put = await api.call('PUT', `${services}/${body.id}`, service('shop.apps.example.org', { name: 'Shop' }));
    expect([put.status, put.body.name]).toEqual([200, 'Shop']);
  });

  it('are reached, when private, at the cluster of the domain', async () => {
    const { api, add } = await openShared();
    const group = await api.group('staff');
    const { id } = await add('apps.example.org');
    const body = service('shop.apps.example.org', { private: true, access_groups: [group] });
    const made = await api.call('POST', services, body);
    const named = async () =>
      (await api.call('GET', '/api/policies')).body
        .map(({ name }: JsonObject) => name)
        .includes('Access to shop.apps.example.org');
    expect([made.status, await named()]).toEqual([200, true]);
    await api.call('DELETE', `${services}/${made.body.id}`);
    await api.call('DELETE', `${domains}/${id}`);
    await api.call('POST', services, body);
    expect(await named()).toBe(false);
    await add('apps.example.org');
    expect(await named()).toBe(true);
  });
});

it('checks of domains take only a limited number of one account before those of other accounts', async () => {
  const { api, add, neighbour } = await openDomainScene();
  for (const at of [1, 2, 3]) await add(`apps${at}.example.org`);
  const bea = await neighbour();
  await add('apps.birch.example', {}, bea.headers);
  const { database } = api.engine;
  await createMissingDomains(database);
  await rowsOf(
    database,
    `update proxy_domains set next_at = now() - case account_id when '${bea.account}' then interval '1 minute' else interval '1 hour' end returning 1`,
  );
  const due = await findDueDomains(database, { owner: 'here', most: { inAll: 3, ofAccount: 2 } });
  expect(due.map(({ account }) => account)).toEqual([api.account, api.account, bea.account]);
});
