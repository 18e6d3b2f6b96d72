import type { CompiledQuery } from 'kysely';
import { expect, it, vi } from 'vitest';
import { sharedApi, type TestApi, testApi } from './setup.ts';

const many = 600;

/** Creates an account with this number of peers. */
async function accountOf(count: number): Promise<TestApi & { readonly ids: readonly string[] }> {
  const api = await testApi();
  const ids = await api.peers(...Array.from({ length: count }, (_, at) => `peer-${at}`));
  return { ...api, ids };
}

/**
 * Returns the cost of some work: numbers of peers written, objects looked up, peers that are counted for, and
 * statements about connections.
 */
async function costOf({ engine, account }: TestApi, work: () => Promise<unknown>) {
  const { created_at, accessible_peers_count: counted } = engine.registry.get('Peer').computed;
  if (created_at === undefined || counted === undefined) throw new Error('peers show both');
  const state = await engine.snapshots.atLeast(account, 0);
  const spies = {
    written: vi.spyOn(created_at, 'value'),
    looked: vi.spyOn(Object.getPrototypeOf(state), 'get'),
    counted: vi.spyOn(engine.access, 'createPeerCounter'),
    asked: vi.spyOn(engine.database, 'inAccount'),
  };
  await work();
  const asked = spies.asked.mock.calls.flatMap(([, queries]) => queries as readonly CompiledQuery<unknown>[]);
  const cost = {
    written: spies.written.mock.calls.length,
    looked: spies.looked.mock.calls.length,
    counted: spies.counted.mock.calls.length,
    asked: asked.filter(({ sql }) => sql.includes('from peer_status')).length,
  };
  for (const spy of Object.values(spies)) spy.mockRestore();
  return cost;
}

const connect = ({ engine, account }: TestApi, peer: string, connected: boolean) =>
  engine.presence.record(account, { peer, connected, stream: 'stream', server: 'server' });

it('a long list of peers is rendered again only for peers that connected or disconnected', async () => {
  await using api = await accountOf(many);
  const list = () => api.call('GET', '/api/peers');
  expect((await costOf(api, list)).written).toBe(many);
  expect(await costOf(api, list)).toMatchObject({ written: 0, asked: 1 });
  await connect(api, api.ids[7] ?? '', true);
  await connect(api, api.ids[8] ?? '', true);
  expect(await costOf(api, list)).toMatchObject({ written: 2, asked: 1 });
  const { body } = await list();
  expect(body.filter(({ connected }: { connected: boolean }) => connected)).toHaveLength(2);
  await connect(api, api.ids[7] ?? '', false);
  expect((await costOf(api, list)).written).toBe(1);
  expect((await list()).body.filter(({ connected }: { connected: boolean }) => connected)).toHaveLength(1);
});

it('a long list of peers equals a freshly rendered one after changes of all kinds', async () => {
  await using api = await accountOf(many);
  const { engine, account, ids } = api;
  const [first = '', second = '', third = ''] = ids;
  const compare = async () => {
    const state = await engine.snapshots.atLeast(account, 0);
    const { headers, body } = await api.call('GET', '/api/peers');
    const one = await Promise.all(body.map(({ id }: { id: string }) => state.get(id)));
    expect(one.map((peer) => peer?.id)).toEqual([...ids].filter((id) => state.get(id) !== undefined).sort());
    const pages = await api.call('GET', '/api/peers?limit=1000');
    expect(body).toEqual(pages.body);
    return headers['etag'];
  };
  const etags = [await compare()];
  await connect(api, first, true);
  etags.push(await compare());
  const group = await api.group('some', [first, second]);
  etags.push(await compare());
  expect((await api.call('PUT', `/api/groups/${group}`, { name: 'others', peers: [third] })).status).toBe(200);
  etags.push(await compare());
  expect((await api.call('DELETE', `/api/peers/${second}`)).status).toBe(200);
  etags.push(await compare());
  await connect(api, first, false);
  etags.push(await compare());
  expect(new Set(etags).size).toBe(etags.length);
});

it('simultaneous requests for a long list of peers share one rendering', async () => {
  await using api = await accountOf(many);
  const list = () => api.call('GET', '/api/peers');
  const together = () => Promise.all(Array.from({ length: 5 }, list));
  expect((await costOf(api, together)).written).toBe(many);
});

it('a page of peers, and one peer, cost the same in a small and in a large account', async () => {
  await using small = await accountOf(30);
  await using large = await accountOf(many);
  for (const [name, url] of [
    ['the first page', () => '/api/peers?limit=10'],
    ['a later page', ({ ids }: { ids: readonly string[] }) => `/api/peers?limit=10&after=${ids[10]}`],
    ['one peer', ({ ids }: { ids: readonly string[] }) => `/api/peers/${ids[5]}`],
  ] as const) {
    const costs = [];
    for (const account of [small, large]) {
      // After the first connection, the server knows that some peers are connected.
      await connect(account, account.ids[0] ?? '', true);
      await account.call('GET', url(account));
      await connect(account, account.ids[1] ?? '', true);
      costs.push(await costOf(account, () => account.call('GET', url(account))));
    }
    expect([name, costs[1]]).toEqual([name, costs[0]]);
    expect([name, costs[1]?.written]).toEqual([name, name === 'one peer' ? 1 : 10]);
  }
});

it('reading one peer does not compute which peers it can reach', async () => {
  await using api = await accountOf(3);
  expect(await costOf(api, () => api.call('GET', `/api/peers/${api.ids[0]}`))).toMatchObject({ counted: 0, asked: 1 });
  expect((await costOf(api, () => api.call('GET', '/api/peers?limit=1'))).counted).toBe(1);
});

const api = sharedApi();

it('the ETag of a page changes when it gets a next page, and not when an object behind it changes', async () => {
  const list = (etag = '') => api().call('GET', '/api/groups?limit=2', undefined, { 'if-none-match': etag });
  await api().group('a');
  const last = await list();
  const third = await api().group('b');
  const first = await list(last.headers['etag']);
  expect([first.status, first.body]).toEqual([200, last.body]);
  expect([last.headers['link'], first.headers['link']]).toEqual([undefined, expect.stringContaining('rel="next"')]);
  expect((await api().call('PUT', `/api/groups/${third}`, { name: 'c' })).status).toBe(200);
  expect((await list(first.headers['etag'])).status).toBe(304);
  expect((await api().call('DELETE', `/api/groups/${third}`)).status).toBe(200);
  expect((await list(first.headers['etag'])).status).toBe(200);
});
