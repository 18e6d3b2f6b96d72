import { describe, expect, it } from 'vitest';
import type { Engine } from '../../src/commit/engine.ts';
import { findAccountsWithEntries } from '../../src/db/accounts/directory.ts';
import { takeLease } from '../../src/db/leases/leases.ts';
import { makeMachineKeys, tunnelKeyOf } from '../../src/features/peers/enrolment/client.ts';
import { duePeers } from '../../src/features/peers/upkeep/due-peers.ts';
import { maintainPeers } from '../../src/features/peers/upkeep/peers.ts';
import { runPeerUpkeep } from '../../src/features/peers/upkeep/upkeep.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { doc } from '../api/documents.ts';
import { sharedApi, type TestApi, testApi, token } from '../api/setup.ts';

import { newMachine, setupKey } from './machine.ts';

const api = sharedApi();
const user = { authorization: `Bearer ${token}` };

/** Sets an observed time of a peer to `seconds` ago. */
async function ago(engine: Engine, peer: string, seconds: number, column = 'last_seen'): Promise<void> {
  const text = `update peer_status set ${column} = clock_timestamp() - $2::int * interval '1 second',
    written = pg_current_xact_id() where peer_id = $1`;
  await engine.database.asOwner(async (run) => {
    await run(text, [peer, seconds]);
  });
}

async function keep({ engine, account }: TestApi) {
  const lease = await takeLease(engine.database, { account, name: 'upkeep', owner: 'test', seconds: 60 });
  if (lease === undefined) throw new Error('the lease is taken');
  return maintainPeers(engine, account, lease);
}

async function settle(own: TestApi, change: JsonObject): Promise<void> {
  const [account] = (await own.call('GET', '/api/accounts')).body;
  await own.call('PUT', `/api/accounts/${account.id}`, { ...account, settings: { ...account.settings, ...change } });
}

const events = async (own: TestApi, code: string): Promise<readonly JsonObject[]> =>
  (await own.call('GET', '/api/events/audit')).body.filter((event: JsonObject) => event['activity_code'] === code);

describe('the login of a peer', () => {
  it('expires after its time, and the user can sign the peer in again', async () => {
    await using own = await testApi();
    await settle(own, { peer_login_expiration_enabled: true, peer_login_expiration: 3600 });
    const machine = newMachine(own);
    const { body } = await machine.enrol({ hostname: 'laptop' }, user);
    const { id } = body.peer;
    const session = `Peer ${body.session.token}`;
    expect((await keep(own)).done).toEqual([]);
    await ago(own.engine, id, 3599, 'last_login');
    expect((await keep(own)).done).toEqual([]);
    await ago(own.engine, id, 3601, 'last_login');
    expect((await keep(own)).done).toEqual([{ id, reason: 'login' }]);
    expect((await keep(own)).done).toEqual([]);
    expect((await own.call('GET', `/api/peers/${id}`)).body.login_expired).toBe(true);
    const [event] = await events(own, 'peer.login.expire');
    const me = (await own.call('GET', '/api/users/current')).body.id;
    expect(event).toMatchObject({ initiator_id: me, target_id: id, meta: { reason: 'login expired' } });

    const refused = await machine.send('/agent/facts', {}, { authorization: session });
    expect([refused.status, refused.body.message]).toEqual([
      403,
      'the login of the peer has expired; log in with the access token of its user',
    ]);
    const again = { wg_pub_key: tunnelKeyOf(machine.keys) };
    expect((await machine.send('/agent/login', again)).status).toBe(403);
    expect((await machine.send('/agent/login', again, user)).status).toBe(200);
    expect((await own.call('GET', `/api/peers/${id}`)).body.login_expired).toBe(false);
    expect(await events(own, 'user.peer.login')).toHaveLength(1);
    expect((await machine.send('/agent/facts', {}, { authorization: session })).status).toBe(200);
  });

  it('expires when the peer is inactive for too long, except after an enrolment with a setup key', async () => {
    await using own = await testApi();
    await settle(own, { peer_inactivity_expiration_enabled: true, peer_inactivity_expiration: 600 });
    const signedIn = (await newMachine(own).enrol({}, user)).body.peer.id;
    const byKey = (await newMachine(own).enrol({ setup_key: (await setupKey(own))['key'] ?? '' })).body.peer.id;
    const here = (await newMachine(own).enrol({}, user)).body.peer.id;
    await own.engine.presence.record(own.account, { peer: here, connected: true, stream: 's', server: 'test' });
    await takeLease(own.engine.database, { account: own.account, name: 'peers/test', owner: 'test', seconds: 60 });
    for (const id of [signedIn, byKey, here]) await ago(own.engine, id, 700);
    expect((await keep(own)).done).toEqual([{ id: signedIn, reason: 'inactivity' }]);
  });
});

describe('an ephemeral or disconnected peer', () => {
  it('is deleted ten minutes after it disconnected when it is ephemeral', async () => {
    const key = (await setupKey(api(), { ephemeral: true }))['key'] ?? '';
    const { id } = (await newMachine(api()).enrol({ setup_key: key })).body.peer;
    await ago(api().engine, id, 599);
    expect((await keep(api())).done).toEqual([]);
    await ago(api().engine, id, 601);
    expect((await keep(api())).done).toEqual([{ id, reason: 'ephemeral' }]);
    expect((await api().call('GET', `/api/peers/${id}`)).status).toBe(404);
    expect((await events(api(), 'user.peer.delete')).map(({ target_id }) => target_id)).toEqual([id]);
  });

  it('is deleted although an access test refers to it, and the test then waits for it', async () => {
    await using own = await testApi();
    const key = (await setupKey(own, { ephemeral: true }))['key'] ?? '';
    const { id } = (await newMachine(own).enrol({ hostname: 'runner', setup_key: key })).body.peer;
    const text = doc(
      'AccessTest',
      't',
      'from: All\ntoResource: {id: runner, type: peer}\nexpect: allow\nenforce: always',
    );
    const push = () => own.call('POST', '/api/config/apply', { source: 'tests', files: [{ path: 't.yaml', text }] });
    expect((await push()).status).toBe(200);
    await ago(own.engine, id, 601);
    expect(await keep(own)).toEqual({ done: [{ id, reason: 'ephemeral' }], failed: [] });
    const again = await push();
    expect([again.status, again.body.plan.warnings]).toMatchObject([200, [{ code: 'reference_pending', key: 't' }]]);
  });

  it('is kept while another object needs it, and this is reported once', async () => {
    await using own = await testApi();
    const key = (await setupKey(own, { ephemeral: true }))['key'] ?? '';
    const { id } = (await newMachine(own).enrol({ setup_key: key })).body.peer;
    const network = (await own.call('POST', '/api/networks', { name: 'office' })).body.id;
    const router = { peer: id, metric: 1, masquerade: true, enabled: true };
    expect((await own.call('POST', `/api/networks/${network}/routers`, router)).status).toBe(200);
    await ago(own.engine, id, 601);
    const { done, failed } = await keep(own);
    expect([done, failed]).toEqual([[], [{ peer: { id, reason: 'ephemeral' }, message: expect.any(String) }]]);

    await own.engine.database.asOwner(["delete from leases where name = 'upkeep'"]);
    const reported: string[] = [];
    const publish = (_: string, message: string) => reported.push(message);
    const stop = runPeerUpkeep({ engine: own.engine, server: 'one', everyMs: 20, graceMs: 0, report: publish });
    await expect.poll(() => reported.length).toBe(1);
    const other = (await newMachine(own).enrol({ setup_key: key })).body.peer.id;
    await own.call('POST', `/api/networks/${network}/routers`, { ...router, peer: other });
    await ago(own.engine, other, 601);
    // After several more rounds the first peer still cannot be deleted, and this is not reported again.
    await expect.poll(() => reported.length).toBe(2);
    await stop();
    expect(reported.map((message) => message.split(' ')[1])).toEqual([id, other]);
  });

  it('is shown as disconnected after the server that it was connected to died', async () => {
    const { engine, account } = api();
    const { id } = (await newMachine(api()).enrol({}, user)).body.peer;
    await engine.presence.record(account, { peer: id, connected: true, stream: 's', server: 'dead' });
    expect((await api().call('GET', `/api/peers/${id}`)).body.connected).toBe(true);
    await keep(api());
    expect((await api().call('GET', `/api/peers/${id}`)).body.connected).toBe(false);
  });

  it('is deleted in the background, by one of several running servers', async () => {
    await using own = await testApi();
    const key = (await setupKey(own, { ephemeral: true }))['key'] ?? '';
    const { id } = (await newMachine(own).enrol({ setup_key: key })).body.peer;
    await ago(own.engine, id, 601);
    const reported: string[] = [];
    const loops = ['one', 'two'].map((server) =>
      runPeerUpkeep({
        engine: own.engine,
        server,
        everyMs: 20,
        graceMs: 0,
        report: (_, message) => reported.push(message),
      }),
    );
    await expect.poll(async () => (await own.call('GET', `/api/peers/${id}`)).status).toBe(404);
    for (const stop of loops) await stop();
    expect([reported, (await events(own, 'user.peer.delete')).length]).toEqual([[], 1]);
  });
});

describe('a server that died or starts', () => {
  it('leaves its connected peers the same grace period as peers that disconnect', async () => {
    await using own = await testApi();
    const key = (await setupKey(own, { ephemeral: true }))['key'] ?? '';
    const { id } = (await newMachine(own).enrol({ setup_key: key })).body.peer;
    await own.engine.presence.record(own.account, { peer: id, connected: true, stream: 's', server: 'dead' });
    await ago(own.engine, id, 86_400);
    expect((await keep(own)).done).toEqual([]);
    expect((await own.call('GET', `/api/peers/${id}`)).body.connected).toBe(false);
    await ago(own.engine, id, 601);
    expect((await keep(own)).done).toEqual([{ id, reason: 'ephemeral' }]);
  });

  it('expires logins at once, but lets machines reconnect before it deletes ephemeral peers', async () => {
    await using own = await testApi();
    const key = (await setupKey(own, { ephemeral: true }))['key'] ?? '';
    const { id } = (await newMachine(own).enrol({ setup_key: key })).body.peer;
    await ago(own.engine, id, 601);
    await settle(own, { peer_login_expiration_enabled: true, peer_login_expiration: 3600 });
    const laptop = (await newMachine(own).enrol({ hostname: 'laptop' }, user)).body.peer.id;
    await ago(own.engine, laptop, 3601, 'last_login');
    const stop = runPeerUpkeep({ engine: own.engine, server: 'new', everyMs: 20, report: () => undefined });
    // The first round is over: the login has expired, and no peer is deleted.
    const isExpired = async () => (await own.call('GET', `/api/peers/${laptop}`)).body.login_expired;
    await expect.poll(isExpired).toBe(true);
    await stop();
    expect((await own.call('GET', `/api/peers/${id}`)).status).toBe(200);
  });
});

it('the observed status of deleted peers is deleted', async () => {
  await using own = await testApi();
  const { engine, account } = own;
  const [left = '', deleted = ''] = await own.peers('left', 'deleted');
  for (const peer of [left, deleted]) await engine.presence.record(account, { peer, facts: { system: 'linux' } });
  expect([...(await engine.presence.read(account)).peers.keys()].sort()).toEqual([left, deleted].sort());
  expect((await own.call('DELETE', `/api/peers/${deleted}`)).status).toBe(200);
  await keep(own);
  expect([...(await engine.presence.read(account)).peers.keys()]).toEqual([left]);
});

it('accounts with peers are listed in order, each once', async () => {
  await using own = await testApi();
  const { database } = own.engine;
  const key = (await setupKey(own))['key'] ?? '';
  for (const hostname of ['one', 'two']) await newMachine(own).enrol({ setup_key: key, hostname });
  const kinds = ['proxy-token', 'peer-key'];
  expect(await findAccountsWithEntries(database, kinds, '', 100)).toEqual([own.account]);
  expect(await findAccountsWithEntries(database, kinds, own.account, 100)).toEqual([]);
  expect(await findAccountsWithEntries(database, ['proxy-token'], '', 100)).toEqual([]);
});

describe('temporary access', () => {
  const grant = (id: string, body: JsonObject, own = api()) =>
    own.call('POST', `/api/peers/${id}/temporary-access`, {
      name: 'browser',
      wg_pub_key: tunnelKeyOf(makeMachineKeys()),
      rules: ['tcp/22', 'udp/1000-2000'],
      ...body,
    });

  it('is a peer that reaches one other peer by its rules, and is deleted with its policies', async () => {
    await using own = await testApi();
    const [target = ''] = await own.peers('target', 'other');
    const { status, body } = await grant(target, {}, own);
    expect([status, body]).toEqual([200, { name: 'browser', id: body.id, rules: ['tcp/22', 'udp/1000-2000'] }]);
    const policies = (await own.call('GET', '/api/policies')).body.filter((policy: { readonly name: string }) =>
      policy.name.startsWith('Temporary access'),
    );
    expect(policies.map(({ rules }: { readonly rules: readonly JsonObject[] }) => rules[0])).toMatchObject([
      { protocol: 'tcp', ports: ['22'], sourceResource: { id: body.id }, destinationResource: { id: target } },
      { protocol: 'udp', port_ranges: [{ start: 1000, end: 2000 }], bidirectional: false },
    ]);
    expect((await own.call('DELETE', `/api/policies/${policies[0].id}`)).status).toBe(409);
    // The policy `Default`, which lets all peers reach each other, does not apply to the temporary peer.
    const reached = (await own.call('GET', `/api/peers/${body.id}/accessible-peers`)).body;
    expect(reached.map(({ id }: { readonly id: string }) => id)).toEqual([target]);
    const exported = (await own.call('GET', '/api/config/export')).body;
    expect(exported).not.toContain('browser');
    expect((await events(own, 'policy.add')).length).toBeGreaterThanOrEqual(2);
    expect(await events(own, 'peer.user.add')).toEqual([]);

    const state = await own.engine.snapshots.current(own.account);
    const due = (now: string, peers = new Map()) => duePeers(state, { peers, deciding: new Map(), now });
    const later = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString();
    expect([due(later(590)), due(later(601))]).toEqual([[], [{ id: body.id, reason: 'temporary' }]]);
    const status_ = { connected: false, stream: 's', lastSeen: later(0), facts: {}, location: {} };
    const seen = new Map([[body.id, status_]]);
    expect([due(later(25), seen), due(later(31), seen)]).toEqual([[], [{ id: body.id, reason: 'temporary' }]]);

    await own.engine.presence.record(own.account, { peer: body.id, connected: false, stream: 's' });
    await ago(own.engine, body.id, 601);
    expect((await keep(own)).done).toEqual([{ id: body.id, reason: 'temporary' }]);
    const left = (await own.call('GET', '/api/policies')).body;
    expect(JSON.stringify(left)).not.toContain('Temporary access');
  });

  it('is refused with all faults before anything is created', async () => {
    const [id = ''] = await api().peers('refusing');
    const revision = await api().revision();
    const wrong = await grant(id, { rules: ['tcp/22', 'tcp/0', 'gre/1', 'udp/9-3', 'tcp'] });
    expect([wrong.status, wrong.body.problems.map(({ path }: { readonly path: string }) => path)]).toEqual([
      422,
      ['/rules/1', '/rules/2', '/rules/3', '/rules/4'],
    ]);
    const empty = await api().call('POST', `/api/peers/${id}/temporary-access`, {});
    expect([empty.status, empty.body.problems]).toMatchObject([
      422,
      Array(3).fill({ code: 'field_required', path: '' }),
    ]);
    expect((await grant('nobody', {})).status).toBe(404);
    expect(await api().revision()).toBe(revision);
    const key = tunnelKeyOf(makeMachineKeys());
    expect((await grant(id, { wg_pub_key: key })).status).toBe(200);
    expect((await grant(id, { wg_pub_key: key })).status).toBe(409);
  });
});
