import { expect, it } from 'vitest';
import type { Engine } from '../../src/commit/engine.ts';
import { statement } from '../../src/db/builder.ts';
import { takeLease } from '../../src/db/leases/leases.ts';
import { disconnectPeersOfDeadServers } from '../../src/db/peers/peer-status.ts';
import { answerChallenge, tunnelKeyOf } from '../../src/features/peers/enrolment/client.ts';
import { maintainPeers } from '../../src/features/peers/upkeep/peers.ts';
import { callAs, person } from '../api/people.ts';
import { sharedApi, type TestApi, testApi, token } from '../api/setup.ts';
import { addPeers } from '../setup/peers.ts';
import { type Machine, newMachine, setupKey } from './machine.ts';

const api = sharedApi();
const user = { authorization: `Bearer ${token}` };

async function upkeepLease({ engine, account }: TestApi, seconds = 60) {
  const lease = await takeLease(engine.database, { account, name: 'upkeep', owner: 'test', seconds });
  if (lease === undefined) throw new Error('the lease is taken');
  return lease;
}

/** Enrols peers of the owner whose logins have expired. */
async function overdue(own: TestApi, count: number): Promise<readonly (readonly [Machine, string])[]> {
  const [account] = (await own.call('GET', '/api/accounts')).body;
  const settings = { ...account.settings, peer_login_expiration_enabled: true, peer_login_expiration: 3600 };
  await own.call('PUT', `/api/accounts/${account.id}`, { ...account, settings });
  const made: [Machine, string][] = [];
  for (let at = 0; at < count; at++) {
    const machine = newMachine(own);
    made.push([machine, (await machine.enrol({ hostname: `late-${at}` }, user)).body.peer.id]);
  }
  const text = `update peer_status set last_login = clock_timestamp() - interval '2 hours', written = pg_current_xact_id()`;
  await own.engine.database.asOwner([text]);
  return made;
}

const loginOf = (machine: Machine) => machine.send('/agent/login', { wg_pub_key: tunnelKeyOf(machine.keys) }, user);

/**
 * Returns the engine with `work` run once: either before the first mutation, or during it, after the plan and before
 * the commit.
 */
function interrupted(engine: Engine, when: 'before' | 'while', work: () => Promise<unknown>): Engine {
  let isOver = false;
  const once = async (): Promise<void> => {
    if (isOver) return;
    isOver = true;
    await work();
  };
  const mutate: Engine['committer']['mutate'] = async (mutation) => {
    if (when === 'before') await once();
    return engine.committer.mutate({
      ...mutation,
      propose: async (state, database) => {
        const outcome = await mutation.propose(state, database);
        await once();
        return outcome;
      },
    });
  };
  return { ...engine, committer: { ...engine.committer, mutate } };
}

it.each(['before', 'while'] as const)(
  'a peer stays signed in when its user signs in %s its login expires',
  async (when) => {
    await using own = await testApi();
    const [[machine, id] = []] = await overdue(own, 1);
    if (machine === undefined) throw new Error('there is a peer');
    const engine = interrupted(own.engine, when, async () => expect((await loginOf(machine)).status).toBe(200));
    await maintainPeers(engine, own.account, await upkeepLease(own));
    expect((await own.call('GET', `/api/peers/${id}`)).body.login_expired).toBe(false);
  },
);

it('the upkeep lease is renewed while many peers are due, and leases of servers gone for long are deleted', async () => {
  await using own = await testApi();
  const { database } = own.engine;
  await overdue(own, 3);
  const leases = async () => {
    const text = `select name, until > clock_timestamp() + interval '30 minutes' as long from leases order by name`;
    return await database.lookUp(statement<{ readonly name: string; readonly long: boolean }>(text, []));
  };
  for (const [server, age] of [
    ['old', 7200],
    ['recent', 60],
  ] as const) {
    await takeLease(database, { account: own.account, name: `peers/${server}`, owner: server, seconds: 1 });
    const text = `update leases set until = clock_timestamp() - $1::int * interval '1 second' where owner = $2`;
    await database.asOwner(async (run) => void (await run(text, [age, server])));
  }
  const { done } = await maintainPeers(own.engine, own.account, await upkeepLease(own), {
    batchSize: 1,
    leaseSeconds: 3600,
  });
  expect(done).toHaveLength(3);
  expect(await leases()).toEqual([
    { name: 'peers/recent', long: false },
    { name: 'upkeep', long: true },
  ]);
});

it('dead servers are dropped in the order in which presence is written, so that there is no deadlock', async () => {
  await using own = await testApi();
  const { engine, account } = own;
  const ids = [...(await own.peers('one', 'two', 'three'))].sort().reverse();
  // The rows are written in descending order of their ids.
  for (const peer of ids) await engine.presence.record(account, { peer, connected: true, stream: 's', server: 'dead' });
  const [last = '', , first = ''] = ids;
  let dropping: Promise<number> | undefined;
  const lock = 'update peer_status set last_seen = now() where peer_id = $1';
  await engine.database.asOwner(async (run) => {
    await run(lock, [first]);
    dropping = disconnectPeersOfDeadServers(engine.database, account);
    const waiting = `select count(*)::int as count from pg_locks where not granted and database = (select oid from pg_database where datname = current_database()) or not granted and locktype = 'transactionid'`;
    await expect.poll(async () => (await run(waiting))[0]?.['count']).toBeGreaterThan(0);
    await run(lock, [last]);
  });
  expect(await dropping).toBe(3);
});

it('peers of a blocked user can neither log in nor report anything', async () => {
  const { id } = (await api().call('POST', '/api/users', person())).body;
  await api().call('PUT', `/api/users/${id}`, { role: 'user', auto_groups: [], is_blocked: false });
  const call = await callAs(api(), id);
  const machine = newMachine({
    call: (method, url, body, headers) =>
      call(method, url, body, headers?.['authorization'] === '' ? { ...headers, authorization: '' } : headers),
  });
  const plain = newMachine(api(), machine.keys);
  const challenge = await machine.enrol({ hostname: 'theirs' }, {});
  expect(challenge.status).toBe(200);
  const session = { authorization: `Peer ${challenge.body.session.token}` };
  expect((await plain.send('/agent/facts', {}, session)).status).toBe(200);
  await api().call('PUT', `/api/users/${id}`, { role: 'user', auto_groups: [], is_blocked: true });
  const again = { wg_pub_key: tunnelKeyOf(machine.keys) };
  for (const answer of [await plain.send('/agent/facts', {}, session), await plain.send('/agent/login', again)])
    expect([answer.status, answer.body.message]).toEqual([403, 'the user of the peer is blocked']);
});

it('a temporary peer blocks no enrolment with its key, and is activated when its creator enrols with that key', async () => {
  const own = api();
  const [target = ''] = await own.peers('target');
  const grant = (machine: Machine) =>
    own.call('POST', `/api/peers/${target}/temporary-access`, {
      ...{ name: 'browser', wg_pub_key: tunnelKeyOf(machine.keys), rules: ['tcp/22'] },
    });
  const keyed = async (machine: Machine) => {
    const text = `select subject_id as id from directory where kind = 'peer-key' and value = $1`;
    return (await own.engine.database.lookUp(statement<{ readonly id: string }>(text, [tunnelKeyOf(machine.keys)])))[0];
  };
  const browser = newMachine(own);
  const { id } = (await grant(browser)).body;
  expect(await keyed(browser)).toBeUndefined();
  const entered = await browser.enrol({ hostname: 'browser' }, user);
  expect([entered.status, entered.body.peer.id]).toEqual([200, id]);
  expect(await keyed(browser)).toEqual({ id });
  const login = await browser.send('/agent/login', { wg_pub_key: tunnelKeyOf(browser.keys) });
  expect([login.status, login.body.peer.id]).toEqual([200, id]);
  expect((await browser.enrol({ hostname: 'browser' }, user)).status).toBe(409);

  const victim = newMachine(own);
  const claim = (await grant(victim)).body.id;
  const enrolled = await victim.enrol({ setup_key: (await setupKey(own))['key'] ?? '' });
  expect(enrolled.status).toBe(200);
  expect(enrolled.body.peer.id).not.toBe(claim);
  expect((await own.call('GET', `/api/peers/${claim}`)).status).toBe(404);
  expect(JSON.stringify((await own.call('GET', '/api/policies')).body)).not.toContain(claim);
});

it('a user of the managing account can enrol as a temporary peer in the account of a tenant, but not with another key', async () => {
  const own = api();
  const helpers = await own.group('helpers');
  const { id: user } = (await own.call('POST', '/api/users', person({ role: 'admin', auto_groups: [helpers] }))).body;
  const admin = await callAs(own, user);
  const groups = [{ id: helpers, role: 'admin' }];
  const { id } = (await admin('POST', '/api/integrations/msp/tenants', { name: 'T', domain: 'd.example.com', groups }))
    .body;
  const [target = ''] = await addPeers(own.engine, id, ['box']);
  const call: TestApi['call'] = (method, url, body, headers) =>
    (headers?.['authorization'] ?? 'mine') === ''
      ? own.call(method, url, body, headers)
      : admin(method, url, body, headers);
  const browser = newMachine({ call });
  const asked = { name: 'browser', wg_pub_key: tunnelKeyOf(browser.keys), rules: ['tcp/22'] };
  const granted = await admin('POST', `/api/peers/${target}/temporary-access?account=${id}`, asked);
  expect(granted.status).toBe(200);
  const challenge = (await own.call('POST', '/agent/challenge')).body;
  const body = {
    hostname: 'browser',
    wg_pub_key: asked.wg_pub_key,
    tunnel_proof: answerChallenge(browser.keys, challenge),
  };
  const entered = await browser.send(`/agent/enrol?account=${id}`, body, {});
  expect([entered.status, entered.body.peer]).toMatchObject([200, { id: granted.body.id, user_id: '' }]);
  const other = newMachine({ call });
  const second = (await own.call('POST', '/agent/challenge')).body;
  const outsider = {
    hostname: 'x',
    wg_pub_key: tunnelKeyOf(other.keys),
    tunnel_proof: answerChallenge(other.keys, second),
  };
  const refused = await other.send(`/agent/enrol?account=${id}`, outsider, {});
  expect([refused.status, refused.body.message]).toEqual([403, expect.stringContaining('setup key')]);
});
