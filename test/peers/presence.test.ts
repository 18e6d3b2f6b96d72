import { expect, it } from 'vitest';
import { createPresence } from '../../src/commit/presence.ts';
import type { AccountAccess } from '../../src/db/database.ts';
import { releaseLease, takeLease } from '../../src/db/leases/leases.ts';
import { writePeerStatuses } from '../../src/db/peers/peer-status.ts';
import { type ConnectionTracker, createConnectionTracker } from '../../src/features/peers/connection-tracker.ts';
import { proofFor } from '../../src/features/peers/enrolment/client.ts';
import { createObservedPeers } from '../../src/features/peers/observed-peers.ts';
import { createPeering } from '../../src/features/peers/peering.ts';
import { sharedApi } from '../api/setup.ts';
import { newMachine, setupKey } from './machine.ts';

const api = sharedApi();

function connectionTracker(server: string): ConnectionTracker & AsyncDisposable {
  const made = createConnectionTracker({
    engine: api().engine,
    server,
    failed: (error) => expect(error).toBeUndefined(),
  });
  return { ...made, [Symbol.asyncDispose]: () => made.close() };
}

const shown = async (id: string) => (await api().call('GET', `/api/peers/${id}`)).body;

it('a peer is connected while its newest stream is open, and this creates no revision', async () => {
  const [id = ''] = await api().peers('comes-and-goes');
  const { account } = api();
  const before = await api().revision();
  await using here = connectionTracker('one');
  here.connected(account, id, 'first');
  await here.settle();
  const connected = await shown(id);
  expect(connected).toMatchObject({ connected: true, last_seen: expect.stringMatching(/^20/) });
  here.connected(account, id, 'second');
  here.gone(account, id, 'first');
  await here.settle();
  expect((await shown(id)).connected).toBe(true);
  here.gone(account, id, 'second');
  await here.settle();
  expect((await shown(id)).connected).toBe(false);
  expect(await api().revision()).toBe(before);
});

it('a peer that moves is shown at its current address, not at that of its enrolment', async () => {
  const { engine, account } = api();
  const machine = newMachine(api());
  const { peer, session } = (await machine.enrol({ setup_key: (await setupKey(api()))['key'] ?? '' })).body;
  const locate = (address: string) => ({ country_code: address === '192.0.2.7' ? 'CH' : 'DE' });
  const peering = createPeering({ engine, now: Date.now, locate });
  const from = (address: string) => {
    const request = { method: 'POST', path: '/agent/facts', body: new Uint8Array() };
    const authorization = `Peer ${session.token}`;
    return peering.authenticate({
      ...request,
      address,
      authorization,
      proof: proofFor(machine.keys, { method: 'POST', path: request.path }),
    });
  };
  await peering.report(await from('192.0.2.7'), {});
  expect(await shown(peer.id)).toMatchObject({ connection_ip: '192.0.2.7', country_code: 'CH' });
  await using here = connectionTracker('three');
  here.connected(account, peer.id, 'abroad', (await from('::ffff:198.51.100.9')).location);
  await here.settle();
  expect(await shown(peer.id)).toMatchObject({ connection_ip: '198.51.100.9', country_code: 'DE', connected: true });
});

it('a status written by another server is visible to the next read', async () => {
  const [id = ''] = await api().peers('seen-elsewhere');
  const { engine, account } = api();
  const other = createPresence(engine.database);
  expect((await other.read(account)).peers.get(id)).toBeUndefined();
  await engine.presence.record(account, { peer: id, facts: { version: '1.0.0' } });
  expect((await other.read(account)).peers.get(id)?.facts).toEqual({ version: '1.0.0' });
  await other.record(account, { peer: id, facts: { version: '1.1.0' }, location: { country_code: 'DE' } });
  expect(await shown(id)).toMatchObject({ version: '1.1.0', country_code: 'DE' });
});

it('the status of many peers is written in few statements, and that of unknown peers is not written', async () => {
  const { engine, account } = api();
  const labels = Array.from({ length: 200 }, (_, at) => `many-${at}`);
  const ids = await api().peers(...labels);
  let statements = 0;
  const database: AccountAccess = {
    inAccount: (...given) => {
      statements += 1;
      return engine.database.inAccount(...given);
    },
    countWrittenRows: (rows) => engine.database.countWrittenRows(rows),
  };
  const presence = createPresence(database);
  await Promise.all([...ids, 'nobody'].map((peer) => presence.record(account, { peer, facts: { os: 'x' } })));
  expect(statements).toBeLessThan(4);
  const { peers } = await presence.read(account);
  expect([ids.every((id) => peers.get(id)?.facts['os'] === 'x'), peers.has('nobody')]).toEqual([true, false]);
});

it('connecting and disconnecting change nothing for access; changed facts do', async () => {
  const { engine, account } = api();
  const [id = '', silent = ''] = await api().peers('reports', 'silent');
  const observedPeers = createObservedPeers(engine.presence);
  await engine.presence.record(account, { peer: id, facts: { system: 'linux', version: '1.0.0' } });
  const before = await observedPeers.read(account);
  expect(before.facts.get(id)).toEqual({ system: 'linux', clientVersion: '1.0.0' });
  await engine.presence.record(account, { peer: id, connected: true, stream: 's', server: 'x' });
  expect(await observedPeers.read(account)).toBe(before);
  await engine.presence.record(account, { peer: silent, connected: true, stream: 't', server: 'x' });
  expect(await observedPeers.read(account)).toBe(before);
  await engine.presence.record(account, { peer: id, facts: { system: 'linux', version: '1.1.0' } });
  const after = await observedPeers.read(account);
  expect(after.facts.get(id)).toEqual({ system: 'linux', clientVersion: '1.1.0' });
});

it('a lost lease is taken again, and every connected peer is recorded again', async () => {
  const { engine, account } = api();
  const [id = ''] = await api().peers('told-anew');
  const made = createConnectionTracker({ engine, server: 'sleepy', failed: () => undefined, leaseSeconds: 0.3 });
  made.connected(account, id, 'stream');
  await made.settle();
  // The lease ran out while this server slept, and another server recorded the peer as disconnected.
  const lease = { account, name: 'peers/sleepy', owner: 'thief', seconds: 0.1 };
  await expect.poll(() => takeLease(engine.database, { ...lease, owner: 'sleepy' })).toBeDefined();
  await writePeerStatuses(engine.database, account, [{ peer: id, stream: 'stream', connected: false }]);
  await expect.poll(async () => (await shown(id)).connected).toBe(true);
  await made.close();
  const free = await takeLease(engine.database, lease);
  expect(free).toBeDefined();
  if (free !== undefined) await releaseLease(engine.database, free);
});

it('a peer that disconnects while the lease of the server is still being taken is not connected afterwards', async () => {
  const [id = ''] = await api().peers('leaves-at-once');
  await using here = connectionTracker('newcomer');
  here.connected(api().account, id, 'short');
  here.gone(api().account, id, 'short');
  await here.settle();
  expect((await shown(id)).connected).toBe(false);
});

it('the cached facts of peers are dropped for the account that was read least recently', async () => {
  const status = { connected: true, facts: { system: 'linux' }, location: {} };
  const deciding = new Map<string, string>();
  const fresh = () => ({ peers: new Map([['peer', status]]), deciding, now: '' });
  const observedPeers = createObservedPeers({ read: async () => fresh() }, 1);
  const before = await observedPeers.read('one');
  expect(await observedPeers.read('one')).toBe(before);
  await observedPeers.read('two');
  expect(await observedPeers.read('one')).not.toBe(before);
});
