import { describe, expect, it } from 'vitest';
import { sharedText } from '../../src/access/netmap/map.ts';
import { makeMachineKeys, tunnelKeyOf } from '../../src/features/peers/enrolment/client.ts';
import { mapIn, readMapImage } from '../../src/features/peers/streams/maps.ts';
import { runPeerUpkeep } from '../../src/features/peers/upkeep/upkeep.ts';
import { followServices } from '../../src/features/proxy/services.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { newMachine, setupKey } from '../peers/machine.ts';
import { type TestApi, testApi } from './setup.ts';

const cluster = 'proxy.example.com';
const clusterPath = `/api/reverse-proxies/clusters/${cluster}`;

const newKey = (): string => tunnelKeyOf(makeMachineKeys());

async function proxyToken({ call }: TestApi) {
  const { body } = await call('POST', '/api/reverse-proxies/proxy-tokens', { name: 'proxies' });
  const authorization = `Bearer ${body.plain_token}`;
  return {
    id: body.id,
    ask: (path: string, proxy_id: string, more: JsonObject = {}) =>
      call('POST', `/proxy/${path}`, { proxy_id, address: cluster, ...more }, { authorization }),
  };
}

/** Creates a private service of the cluster for one of two peers. No other access is allowed. */
async function privateService(own: TestApi) {
  for (const { id } of (await own.call('GET', '/api/policies')).body) await own.call('DELETE', `/api/policies/${id}`);
  const [ana = '', web = ''] = await own.peers('ana', 'web');
  const staff = await own.group('staff', [ana]);
  const service = { name: 'Wiki', domain: `wiki.${cluster}`, enabled: true, private: true, access_groups: [staff] };
  expect((await own.call('POST', '/api/reverse-proxies/services', service)).status).toBe(200);
  return { ana, web, staff };
}

/** Returns the content of a peer's map: ids and addresses of the peers around it, and the peers that its rules name. */
async function mapFor({ engine, account }: TestApi, peer: string) {
  const reported = mapIn(await readMapImage(engine, account), peer);
  if (typeof reported === 'string') throw new Error(reported);
  const shared = JSON.parse(`{${sharedText(reported.map.shared)}}`);
  return {
    peers: shared.peers.map(({ id, allowed_ips, public_key }: JsonObject) => ({ id, allowed_ips, public_key })),
    named: shared.sets.flatMap(({ peers }: JsonObject) => peers),
  };
}

describe('a proxy with a tunnel key', () => {
  it('is in the maps of the peers that may use a private service of its cluster, and in no others', async () => {
    await using own = await testApi();
    const proxies = await proxyToken(own);
    const early = newKey();
    const { body: first } = await proxies.ask('register', 'bern-1', { wg_pub_key: early });
    const { ana, web } = await privateService(own);
    const late = newKey();
    const { body: second } = await proxies.ask('register', 'bern-2', { wg_pub_key: late });
    const expected = [
      { id: first.peer.id, allowed_ips: [`${first.peer.ip}/32`], public_key: early },
      { id: second.peer.id, allowed_ips: [`${second.peer.ip}/32`], public_key: late },
    ];
    const { peers, named } = await mapFor(own, ana);
    expect(peers).toEqual(expected);
    expect(named).toEqual([first.peer.id, second.peer.id]);
    expect(await mapFor(own, web)).toEqual({ peers: [], named: [] });

    expect((await own.call('GET', '/api/peers')).body.map(({ name }: JsonObject) => name)).toEqual([
      'Peer ana',
      'Peer web',
    ]);
    expect((await own.call('GET', `/api/peers/${first.peer.id}`)).status).toBe(404);
    expect((await own.call('GET', `/api/peers/${ana}/accessible-peers`)).body).toEqual([]);
    const groups = (await own.call('GET', '/api/groups')).body;
    expect(groups.find(({ name }: JsonObject) => name === 'All').peers_count).toBe(2);
    expect((await own.call('GET', '/api/config/export')).body).not.toContain('bern-1');
    const allowed = await own.call('GET', `/api/config/access?from=${ana}&to=Proxies%20of%20${cluster}&port=tcp/443`);
    expect([allowed.status, allowed.body.verdict]).toEqual([200, 'allow']);
  });

  it('keeps its address when it registers again, and gets its new key into the maps', async () => {
    await using own = await testApi();
    const proxies = await proxyToken(own);
    const { body: first } = await proxies.ask('register', 'p', { wg_pub_key: newKey() });
    const { ana } = await privateService(own);
    const key = newKey();
    const { body: again } = await proxies.ask('register', 'p', { wg_pub_key: key });
    expect(again.peer).toEqual(first.peer);
    expect((await mapFor(own, ana)).peers).toMatchObject([{ id: first.peer.id, public_key: key }]);
    const revision = await own.revision();
    await proxies.ask('register', 'p', { wg_pub_key: key });
    expect(await own.revision()).toBe(revision);
    const before = (await own.call('GET', '/api/accounts')).body[0];
    const settings = { ...before.settings, network_range: '10.20.0.0/16' };
    expect((await own.call('PUT', `/api/accounts/${before.id}`, { ...before, settings })).status).toBe(200);
    expect((await mapFor(own, ana)).peers[0]?.allowed_ips[0]).toMatch(/^10\.20\./);
  });

  it('is removed from the maps when it disconnects, and when its token or its cluster is deleted', async () => {
    await using own = await testApi();
    const proxies = await proxyToken(own);
    const key = newKey();
    const others = await proxyToken(own);
    await proxies.ask('register', 'a', { wg_pub_key: key });
    await others.ask('register', 'b', { wg_pub_key: newKey() });
    await others.ask('register', 'c', { wg_pub_key: newKey() });
    await others.ask('register', 'd', { wg_pub_key: newKey() });
    const { ana } = await privateService(own);
    const count = async () => (await mapFor(own, ana)).peers.length;
    expect(await count()).toBe(4);
    expect((await others.ask('disconnect', 'b')).status).toBe(200);
    expect(await count()).toBe(3);
    await others.ask('register', 'c');
    expect(await count()).toBe(2);
    expect((await own.call('DELETE', `/api/reverse-proxies/proxy-tokens/${proxies.id}`)).status).toBe(200);
    expect(await count()).toBe(1);
    expect((await own.call('DELETE', clusterPath)).status).toBe(200);
    expect(await count()).toBe(0);
    expect((await own.engine.snapshots.fresh(own.account)).countOf('ProxyPeer')).toBe(0);
  });

  it('is removed when it is not seen for 10 minutes or its token expires, also in an account without peers', async () => {
    await using own = await testApi();
    const [proxies, others] = [await proxyToken(own), await proxyToken(own)];
    for (const name of ['here', 'vanished']) await proxies.ask('register', name, { wg_pub_key: newKey() });
    await others.ask('register', 'expired', { wg_pub_key: newKey() });
    const proxyNames = async () =>
      (await own.engine.snapshots.fresh(own.account)).ofKind('ProxyPeer').map(({ name }) => name);
    const reported: string[] = [];
    const publish = (_: string, message: string) => reported.push(message);
    const stops = ['one', 'two'].map((server) =>
      runPeerUpkeep({ engine: own.engine, server, everyMs: 20, graceMs: 0, report: publish }),
    );
    await own.engine.database.asOwner(async (run) => {
      await run(`update proxies set last_seen = now() - interval '300 seconds' where id = 'here'`, []);
      await run(`update proxies set last_seen = now() - interval '601 seconds' where id = 'vanished'`, []);
      await run('update proxy_tokens set expires_at = now() where id = $1', [others.id]);
    });
    await expect.poll(proxyNames).toEqual(['here']);
    for (const stop of stops) await stop();
    expect(reported.map((text) => text.split(':')[0]).sort()).toEqual(['proxy expired', 'proxy vanished']);

    const { status, body } = await proxies.ask('heartbeat', 'vanished');
    expect([status, body.message]).toEqual([404, 'proxy vanished not found: register it first']);
    for (const name of ['vanished', 'expired']) await proxies.ask('register', name, { wg_pub_key: newKey() });
    expect((await proxyNames()).sort()).toEqual(['expired', 'here', 'vanished']);
  });

  it('receives the peers that may reach it, and their changes', async () => {
    await using own = await testApi();
    const proxies = await proxyToken(own);
    const { body } = await proxies.ask('register', 'a', { wg_pub_key: newKey() });
    const { engine, account } = own;
    const reader = followServices(engine, { account, id: 'a', token: proxies.id, cluster: body.cluster.id });
    const next = async () => (await reader.next())?.data['peers'];
    expect(await next()).toEqual([]);
    const { ana, staff, web } = await privateService(own);
    expect(await next()).toMatchObject([{ id: ana }]);
    await own.group('unrelated', [ana]);
    expect(await reader.next()).toBeUndefined();
    await own.call('PUT', `/api/groups/${staff}`, { name: 'staff', peers: [ana, web] });
    expect(await next()).toMatchObject([{ id: ana }, { id: web }]);
    await proxies.ask('disconnect', 'a');
    expect(await next()).toEqual([]);
  });

  it('must have a unique key, and has an address that no peer can take', async () => {
    await using own = await testApi();
    const proxies = await proxyToken(own);
    const machine = newMachine(own);
    const { key: setup_key } = (await setupKey(own)) as { readonly key: string };
    const wg_pub_key = tunnelKeyOf(machine.keys);
    const { body: registered } = await proxies.ask('register', 'a', { wg_pub_key });
    expect((await machine.enrol({ setup_key })).status).toBe(409);
    expect((await proxies.ask('register', 'b', { wg_pub_key })).status).toBe(409);
    expect((await proxies.ask('register', 'b', { wg_pub_key: 'short' })).status).toBe(422);
    const [{ connected_proxies }] = (await own.call('GET', '/api/reverse-proxies/clusters')).body;
    expect(connected_proxies).toBe(1);
    const [web = ''] = await own.peers('web');
    const { body: peer } = await own.call('GET', `/api/peers/${web}`);
    const taken = await own.call('PUT', `/api/peers/${web}`, { ...peer, ip: registered.peer.ip });
    expect([taken.status, taken.body.message]).toEqual([409, expect.stringContaining('a proxy has the address')]);
  });
});
