import { beforeAll, describe, expect, it } from 'vitest';
import { recordSource } from '../../src/features/sources/sources.ts';
import { listObjects } from '../../src/objects/object-list.ts';
import { doc } from './documents.ts';
import { sharedApi } from './setup.ts';

const api = sharedApi();

const metric = (value: number) =>
  doc(
    'Route',
    'office',
    `network_id: office\nnetwork: 10.1.0.0/16\npeer_groups: [All]\ngroups: [All]\nmetric: ${value}`,
  );
const quietRoute = doc(
  'Route',
  'quiet',
  'network_id: quiet\nnetwork: 10.2.0.0/16\npeer_groups: [All]\ngroups: [All]\nmetric: 7',
);
const policy = (enabled: boolean) =>
  doc(
    'Policy',
    'contested',
    `enabled: ${enabled}\nrules: [{name: r, action: accept, protocol: all, sources: [All], destinations: [All]}]`,
  );

function apply(source: string, ...texts: readonly string[]) {
  const files = [{ path: 'a.yaml', text: texts.join('---\n') }];
  return api().call('POST', '/api/config/apply', { source, files, allowEmpty: true });
}

async function standings(query = '') {
  const { body } = await api().call('GET', `/api/config/objects${query}`);
  return body.objects as readonly {
    readonly kind: string;
    readonly key?: string;
    readonly name: string;
    readonly status: string;
  }[];
}

async function statuses(query = ''): Promise<Readonly<Record<string, string>>> {
  const found = await standings(query);
  return Object.fromEntries(found.map(({ kind, key, name, status }) => [`${kind}/${key ?? name}`, status]));
}

async function putRoute(key: string, change: object, headers = {}): Promise<void> {
  const routes = (await api().call('GET', '/api/routes')).body;
  const route = routes.find((one: { readonly network_id: string }) => one.network_id === key);
  expect((await api().call('PUT', `/api/routes/${route.id}`, { ...route, ...change }, headers)).status).toBe(200);
}

beforeAll(async () => {
  const actor = { type: 'source', id: 'watcher', name: 'watcher' } as const;
  const watcher = { id: 'watcher', type: 'push', spec: { conflictMode: 'observe' } };
  await recordSource(api().engine, { account: api().account, actor }, watcher);
  await apply('watcher', metric(100));
  await putRoute('office', { metric: 5 });
  await apply('team', quietRoute, doc('Group', 'used', '{}'), doc('Group', 'waiting', 'peers: [not-yet-enrolled]'));
  await putRoute('quiet', { metric: 8 }, { 'x-break-glass': 'incident 4711' });
  await apply('a', policy(true), doc('Group', 'steady', '{}'));
  await apply('b', policy(false));
  const used = (await api().call('GET', '/api/groups?name=used')).body[0].id;
  const rule = { name: 'r', enabled: true, action: 'accept', bidirectional: false, protocol: 'all' };
  const byHand = { name: 'By hand', enabled: true, rules: [{ ...rule, sources: [used], destinations: [used] }] };
  expect((await api().call('POST', '/api/policies', byHand)).status).toBe(200);
  await apply('team', quietRoute, doc('Group', 'waiting', 'peers: [not-yet-enrolled]'));
});

describe('the list of objects', () => {
  it('returns the status of every object', async () => {
    expect(await statuses()).toMatchObject({
      'Group/All': 'Unmanaged',
      'Group/steady': 'InSync',
      'Group/used': 'Blocked',
      'Group/waiting': 'Drifted',
      'Policy/By hand': 'Unmanaged',
      'Policy/contested': 'Conflicted',
      'Route/office': 'Drifted',
      'Route/quiet': 'Overridden',
    });
  });

  it('returns the owner of an object, the file and line that state it, and its last revision', async () => {
    const [steady] = await standings('?object=Group/steady');
    expect(steady).toEqual({
      ...{ kind: 'Group', key: 'steady', name: 'steady', id: expect.any(String), status: 'InSync' },
      ...{ owner: 'a', declared: [{ source: 'a', file: 'a.yaml', line: 9 }], revision: expect.any(Number) },
    });
  });

  it.each([
    ['?status=Blocked', ['Group/used']],
    ['?kind=Route', ['Route/office', 'Route/quiet']],
    ['?source=a', ['Group/steady', 'Policy/contested']],
    ['?source=a&kind=Group', ['Group/steady']],
    ['?source=nobody', []],
    ['?status=Drifted&kind=Policy', []],
  ])('contains only matching objects with %s', async (query, names) => {
    expect(Object.keys(await statuses(query))).toEqual(names);
  });

  it.each([
    ['by its name', 'Policy/By%20hand', 'By hand'],
    ['by its key', 'Route/office', 'office'],
    ['by its kind and id', '', 'steady'],
  ])('finds one object %s', async (_, object, name) => {
    const id = (await api().call('GET', '/api/groups?name=steady')).body[0].id;
    for (const text of object === '' ? [id, `Group/${id}`, `Group/id:${id}`] : [object])
      expect((await standings(`?object=${text}`)).map((one) => one.key ?? one.name)).toEqual([name]);
  });

  it.each([
    ['?status=Odd', 422, '`status` must be one of InSync, Drifted, Overridden, Conflicted, Blocked, Unmanaged'],
    ['?kind=Grup', 422, 'unknown kind Grup'],
    ['?object=Group/stedy', 404, 'Group stedy not found; did you mean steady?'],
    ['?object=nothing', 404, 'object nothing not found; name it by its id, or by its kind and key'],
  ])('refuses %s', async (query, status, message) => {
    const answer = await api().call('GET', `/api/config/objects${query}`);
    expect([answer.status, answer.body.message]).toEqual([status, expect.stringContaining(message)]);
  });

  it('refuses an ambiguous name with the ids of all candidates', async () => {
    const rule = { name: 'r', enabled: true, action: 'accept', bidirectional: false, protocol: 'all' };
    const all = (await api().call('GET', '/api/groups?name=All')).body[0].id;
    const twin = { name: 'Twin', enabled: true, rules: [{ ...rule, sources: [all], destinations: [all] }] };
    const ids = [await api().call('POST', '/api/policies', twin), await api().call('POST', '/api/policies', twin)];
    const { status, body } = await api().call('GET', '/api/config/objects?object=Policy/Twin');
    expect(status).toBe(422);
    for (const { body: made } of ids) expect(body.message).toContain(`id:${made.id}`);
  });

  it('is answered with 304 while nothing changed', async () => {
    const first = await api().call('GET', '/api/config/objects');
    const headers = { 'if-none-match': String(first.headers['etag']) };
    expect((await api().call('GET', '/api/config/objects', undefined, headers)).status).toBe(304);
  });

  it('omits the kinds that the caller may not read', async () => {
    const channel = {
      type: 'email',
      target: { emails: ['ana@example.com'] },
      event_types: ['user.join'],
      enabled: false,
    };
    expect((await api().call('POST', '/api/integrations/notifications/channels', channel)).status).toBe(200);
    const user = { role: 'network_admin', auto_groups: [], is_service_user: false, email: 'n@example.com' };
    const { id } = (await api().call('POST', '/api/users', user)).body;
    const call = { account: api().account, actor: { type: 'user', id, name: 'net' }, revision: 0 } as const;
    const { objects } = await listObjects(api().engine, call, {});
    const seen = new Set(objects.map(({ kind }) => kind));
    expect([seen.has('Policy'), seen.has('NotificationChannel')]).toEqual([true, false]);
    expect((await standings()).map(({ kind }) => kind)).toContain('NotificationChannel');
  });
});

describe('an obstacle recorded for a source', () => {
  it('is removed when it no longer exists', async () => {
    const [byHand] = await standings('?object=Policy/By%20hand');
    expect(byHand).toBeDefined();
    const { id } = (await api().call('GET', '/api/config/objects?object=Policy/By%20hand')).body.objects[0];
    await api().call('DELETE', `/api/policies/${id}`);
    await api().peers('not-yet-enrolled');
    await apply('team', quietRoute, doc('Group', 'waiting', 'peers: [not-yet-enrolled]'));
    const found = await statuses('?kind=Group');
    expect([found['Group/used'], found['Group/waiting']]).toEqual([undefined, 'InSync']);
  });

  it('is kept when a later apply of the source is refused', async () => {
    await apply('team', quietRoute, doc('Group', 'waiting', 'peers: [not-yet-enrolled, another]'));
    expect((await statuses())['Group/waiting']).toBe('Drifted');
    expect((await apply('team', quietRoute, doc('Group', 'broken', 'peers: 7'))).status).toBe(422);
    expect((await statuses())['Group/waiting']).toBe('Drifted');
  });
});

describe('an export of one object', () => {
  it('is its document with the annotation that lets a source adopt it', async () => {
    const { body } = await api().call('GET', '/api/config/export?object=Policy/Default&markAdopt=true&format=json');
    expect(body).toMatchObject([
      {
        kind: 'Policy',
        metadata: { name: 'default', annotations: { 'heddle.dev/adopt': expect.stringMatching(/^id:/) } },
      },
    ]);
  });

  it.each([
    [
      'Group/All',
      'document of Group/All not found; the server manages this object itself, and documents do not state it',
    ],
    ['Group/nobody', 'Group nobody not found'],
  ])('of %s is refused with 404', async (object, message) => {
    const answer = await api().call('GET', `/api/config/export?object=${object}`);
    expect([answer.status, answer.body.message]).toEqual([404, expect.stringContaining(message)]);
  });
});
