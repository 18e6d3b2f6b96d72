import { expect, it } from 'vitest';
import { takeLease } from '../../src/db/leases/leases.ts';
import { proofFor } from '../../src/features/peers/enrolment/client.ts';
import { endExposures } from '../../src/features/peers/exposure/end-exposures.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { type Answer, sharedApi, type TestApi } from '../api/setup.ts';
import { type Machine, newMachine, setupKey } from './machine.ts';

const api = sharedApi();
const cluster = 'proxy.example.com';

async function settle({ call }: TestApi, change: JsonObject): Promise<void> {
  const [account] = (await call('GET', '/api/accounts')).body;
  const settings = { ...account.settings, ...change };
  expect((await call('PUT', `/api/accounts/${account.id}`, { ...account, settings })).status).toBe(200);
}

/** Registers a proxy, without which the cluster does not exist. */
async function addCluster({ call }: TestApi): Promise<void> {
  const { body } = await call('POST', '/api/reverse-proxies/proxy-tokens', { name: 'proxy' });
  const registration = { proxy_id: 'p', address: cluster };
  const answer = await call('POST', '/proxy/register', registration, { authorization: `Bearer ${body.plain_token}` });
  expect(answer.status).toBe(200);
}

/** Enrols a connected peer, with methods for the requests that it may make about services. */
async function newPeer(on: TestApi, hostname: string) {
  const machine = newMachine(on);
  const key = (await setupKey(on))['key'] ?? '';
  const { peer, session } = (await machine.enrol({ setup_key: key, hostname })).body;
  const authorization = `Peer ${session.token}`;
  await on.engine.presence.record(on.account, { peer: peer.id, connected: true, stream: hostname, server: 'test' });
  return {
    id: String(peer.id),
    ip: String(peer.ip),
    expose: (body: JsonObject) => machine.send('/agent/services', body, { authorization }),
    renew: (id: string) => machine.send(`/agent/services/${id}/renew`, {}, { authorization }),
    withdraw: (id: string) => remove(on, machine, `/agent/services/${id}`, authorization),
  };
}

function remove({ call }: TestApi, { keys }: Machine, path: string, authorization: string): Promise<Answer> {
  const proof = proofFor(keys, { method: 'DELETE', path });
  return call('DELETE', path, undefined, { 'heddle-proof': proof, authorization });
}

const said = ({ status, body }: Answer) => [status, body.message];
const services = async () => (await api().call('GET', '/api/reverse-proxies/services')).body;
const reported = async (): Promise<readonly JsonObject[]> =>
  (await api().call('GET', '/api/events/audit')).body.filter(({ activity_code }: { activity_code: string }) =>
    activity_code.startsWith('service.peer.'),
  );

/**
 * Ends the exposed services that are due, as the loop of a server does, with the clock of the database `aheadMs` ahead.
 */
async function end(aheadMs = 0) {
  const { engine, account } = api();
  const { presence } = engine;
  const ahead = (now: string): string => new Date(Date.parse(now) + aheadMs).toISOString();
  const at: typeof presence.read = async (of) => {
    const image = await presence.read(of);
    return { ...image, now: ahead(image.now) };
  };
  const lease = await takeLease(engine.database, { account, name: 'upkeep', owner: 'test', seconds: 60 });
  if (lease === undefined) throw new Error('the lease is taken');
  return endExposures({ ...engine, presence: { ...presence, read: at } }, account, lease);
}

it('a peer exposes nothing unless the account allows its groups, a proxy exists and the peer is connected', async () => {
  const peer = await newPeer(api(), 'refused');
  const group = await api().group('exposers');
  expect(said(await peer.expose({ port: 80 }))).toEqual([403, expect.stringContaining('`peer_expose_enabled`')]);
  await settle(api(), { peer_expose_enabled: true, peer_expose_groups: [group] });
  expect(said(await peer.expose({ port: 80 }))).toEqual([403, expect.stringContaining('`peer_expose_groups`')]);
  await api().call('PUT', `/api/groups/${group}`, { name: 'exposers', peers: [peer.id] });
  expect(said(await peer.expose({ port: 80 }))).toEqual([409, expect.stringContaining('no cluster')]);
  await addCluster(api());
  const wrong = await peer.expose({ port: 0, mode: 'ftp', name: 'a.b', pin: 7, host: 'x' });
  expect([wrong.status, wrong.body.problems.map(({ path }: { path: string }) => path)]).toEqual([
    422,
    ['/host', '/port', '/mode', '/name', '/pin'],
  ]);
  expect((await peer.expose({ port: 80, cluster: 'elsewhere.example.com' })).status).toBe(422);
  await api().engine.presence.record(api().account, { peer: peer.id, connected: false, stream: 'refused' });
  expect(said(await peer.expose({ port: 80 }))).toEqual([409, expect.stringContaining('not connected')]);
  expect(await services()).toEqual([]);
  await settle(api(), { peer_expose_groups: [] });
});

it('a service exposed by a peer is not exported to documents, and only that peer renews and withdraws it', async () => {
  const peer = await newPeer(api(), 'box');
  const other = await newPeer(api(), 'other');
  const { status, body } = await peer.expose({ port: 8080, password: 'secret' });
  expect([status, body.domain]).toEqual([200, `box-8080.${cluster}`]);
  expect(Date.parse(body.expires_at)).toBeGreaterThan(Date.now() + 590_000);
  const [service] = await services();
  expect(service).toMatchObject({ id: body.id, proxy_cluster: cluster, targets: [{ target_id: peer.id, port: 8080 }] });
  expect((await api().call('GET', '/api/config/export')).body).not.toContain('box-8080');
  const change = await api().call('PUT', `/api/reverse-proxies/services/${body.id}`, { ...service, enabled: false });
  expect([change.status, change.body.message]).toEqual([409, expect.stringContaining('exposed by a peer')]);
  const otherwise = `the peer already exposes \`box-8080.${cluster}\` with other settings, as the service ${body.id}; withdraw that service first`;
  expect(said(await peer.expose({ port: 8080 }))).toEqual([409, otherwise]);
  expect(said(await peer.expose({ port: 8080, password: 'other' }))[0]).toBe(409);
  // A restarted machine that exposes the same service again keeps it.
  expect((await peer.expose({ port: 8080, password: 'secret' })).body).toMatchObject({ id: body.id });
  const tcp = (await peer.expose({ port: 22, mode: 'tcp' })).body;
  expect((await peer.expose({ port: 22, mode: 'tcp' })).body).toEqual({ ...tcp, expires_at: expect.any(String) });
  expect((await peer.withdraw(tcp.id)).status).toBe(200);
  expect((await other.renew(body.id)).status).toBe(404);
  expect((await other.withdraw(body.id)).status).toBe(404);
  const renewed = await peer.renew(body.id);
  expect([renewed.status, renewed.body.expires_at >= body.expires_at]).toEqual([200, true]);
  expect((await peer.withdraw(body.id)).status).toBe(200);
  expect((await peer.renew(body.id)).status).toBe(404);
  const meta = { name: 'box-8080', source: 'ephemeral', peer_name: 'box', peer_ip: peer.ip, proxy_cluster: cluster };
  const events = await reported();
  expect(events.filter(({ target_id }) => target_id === body.id)).toMatchObject([
    { activity_code: 'service.peer.unexpose', initiator_id: peer.id, target_id: body.id, meta },
    { activity_code: 'service.peer.expose', initiator_id: peer.id, target_id: body.id, meta },
  ]);
});

it('an exposed service that is not renewed expires once, and exposed services are deleted with their peer', async () => {
  const peer = await newPeer(api(), 'brief');
  const tcp = (await peer.expose({ port: 5432, mode: 'tcp', name: 'db' })).body;
  expect(tcp).toMatchObject({ domain: `db.${cluster}`, listen_port: expect.any(Number) });
  expect(await end(590_000)).toEqual([]);
  expect(await end(601_000)).toEqual([{ id: tcp.id }]);
  expect(await end(601_000)).toEqual([]);
  expect(await services()).toEqual([]);
  const [expired, ...before] = await reported();
  expect(expired).toMatchObject({ activity_code: 'service.peer.expose.expire', initiator_id: peer.id });
  expect(before.filter(({ target_id }) => target_id === tcp.id)).toHaveLength(1);
  const lasting = (await peer.expose({ port: 80 })).body.id;
  await settle(api(), { peer_expose_enabled: false });
  // When an admin turns exposing off, exposed services end at once instead of at their expiry.
  expect(await end(0)).toEqual([{ id: lasting }]);
  expect((await reported())[0]).toMatchObject({ activity_code: 'service.peer.unexpose', target_id: lasting });
  await settle(api(), { peer_expose_enabled: true });
  for (const port of [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]) expect((await peer.expose({ port })).status).toBe(200);
  expect(said(await peer.expose({ port: 11 }))).toEqual([409, expect.stringContaining('10 services already')]);
  expect((await api().call('DELETE', `/api/peers/${peer.id}`)).status).toBe(200);
  expect(await services()).toEqual([]);
});
