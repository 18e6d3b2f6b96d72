import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createNoticeBoard } from '../../src/commit/notices.ts';
import { insertToken } from '../../src/db/accounts/tokens.ts';
import type { Database } from '../../src/db/database.ts';
import { createAuthenticator, hashToken } from '../../src/features/auth/authenticate.ts';
import { createTokenCache } from '../../src/features/auth/token-cache.ts';
import type { Json } from '../../src/lib/json.ts';
import { makeToken } from '../../src/lib/token.ts';
import { testDatabase } from '../setup/database.ts';
import { present } from '../setup/present.ts';
import { apiOn, type Call, type TestApi } from './setup.ts';

/**
 * Two servers on one database, which learn of each other's changes only from the database, and a user whose token the
 * first server has looked up for an earlier write.
 */
interface Pair extends AsyncDisposable {
  readonly first: TestApi;
  readonly second: TestApi;
  readonly user: string;
  readonly tokenId: string;
  /** Sends a request with the user's token to the first server. */
  readonly call: Call;
  /** Number of look-ups of the first server in the directory of tokens. */
  lookUps(): number;
}

const newUser = { name: 'program', role: 'admin', auto_groups: [], is_service_user: true };

let pair: Pair;
beforeEach(async () => {
  pair = await openPair();
});
afterEach(() => pair[Symbol.asyncDispose]());

async function openPair(): Promise<Pair> {
  const { database, [Symbol.asyncDispose]: dispose } = await testDatabase('postgres');
  let count = 0;
  const counted = new Proxy(database, {
    get(target, name) {
      const value = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      if (name !== 'lookUp') return value.bind(target);
      const lookUp: Database['lookUp'] = (statement) => {
        if (statement.sql.includes("d.kind = 'token'")) count += 1;
        return target.lookUp(statement);
      };
      return lookUp;
    },
  });
  const profile = { profile: 'specification', allowsHeader: true } as const;
  const first = await apiOn(counted, async () => {}, { profile });
  const second = await apiOn(database, dispose, {});
  const { user } = await addUser(first);
  const { id: tokenId, call } = await addToken(first, user);
  await call('POST', '/api/groups', { name: 'known' });
  return {
    ...{ first, second, user, tokenId, call },
    lookUps: () => count,
    async [Symbol.asyncDispose]() {
      await first[Symbol.asyncDispose]();
      await second[Symbol.asyncDispose]();
    },
  };
}

async function addUser({ call }: TestApi): Promise<{ readonly user: string }> {
  return { user: (await call('POST', '/api/users', newUser)).body.id };
}

/** Stores a token of a user. Returns its id and value, and a function that sends requests with it to the server. */
async function addToken({ engine, account, call }: TestApi, user: string, expiresAt = '2126-01-01T00:00:00Z') {
  const [id, value] = [engine.newId(), makeToken('nbp_', randomBytes(32))];
  await insertToken(engine.database, {
    ...{ account, id, user, name: 't', hash: hashToken(value), createdBy: user, expiresAt },
    createdAt: '2026-01-01T00:00:00Z',
  });
  const withToken: Call = (method, url, body, headers) =>
    call(method, url, body, { authorization: `Token ${value}`, ...headers });
  return { id, value, call: withToken };
}

const groupNames = async ({ engine, account }: TestApi) =>
  (await engine.snapshots.fresh(account))
    .ofKind('Group')
    .map(({ name }) => name)
    .sort();

const knownId = ({ engine, account }: TestApi): Promise<string> =>
  engine.snapshots
    .fresh(account)
    .then((state) => present(state.ofKind('Group').find(({ name }) => name === 'known')).id);

describe('a token that an earlier request looked up', () => {
  it('is checked by the statement of a write, without a look-up', async () => {
    const before = pair.lookUps();
    const made = await pair.call('POST', '/api/groups', { name: 'made' });
    const replaced = await pair.call('PUT', `/api/groups/${made.body.id}`, { name: 'renamed' });
    const deleted = await pair.call('DELETE', `/api/groups/${made.body.id}`);
    expect([made.status, replaced.status, deleted.status]).toEqual([200, 200, 200]);
    expect(pair.lookUps()).toBe(before);
  });

  it('is looked up before every answer without a write', async () => {
    const known = await knownId(pair.first);
    const requests: readonly (readonly [string, string, Json | undefined, number])[] = [
      ['GET', '/api/groups', undefined, 200],
      ['POST', '/api/groups', { name: 'known' }, 409],
      ['POST', '/api/groups', { name: 1 }, 422],
      ['POST', '/api/groups', '{', 400],
      ['PUT', `/api/groups/${known}`, { name: 'known' }, 200],
      ['PUT', '/api/groups/nothing', { name: 'nothing' }, 404],
      ['DELETE', '/api/groups/nothing', undefined, 404],
    ];
    for (const [method, url, body, status] of requests) {
      // Each with another token, because a refused write pauses the cache for its token.
      const { call } = await addToken(pair.first, pair.user);
      await call('GET', '/api/groups');
      const before = pair.lookUps();
      const answer = await call(method, url, body);
      expect([method, url, answer.status, pair.lookUps() - before]).toEqual([method, url, status, 1]);
    }
  });

  it.each([
    ['a body over 16 KiB', 'POST', '/api/groups', { name: 'long', padding: 'x'.repeat(20_000) }, {}, 200],
    ['a body of unknown length', 'POST', '/api/groups', { name: 'chunked' }, { 'transfer-encoding': 'chunked' }, 200],
    ['an idempotency key', 'POST', '/api/groups', { name: 'repeatable' }, { 'idempotency-key': 'k' }, 200],
    ['a named account', 'POST', '/api/groups?account=ACCOUNT', { name: 'in account' }, {}, 200],
    ['another profile', 'POST', '/api/groups', { name: 'translated' }, { 'heddle-profile': 'compatible' }, 200],
    ['the creation of a user', 'POST', '/api/users', newUser, {}, 200],
    [
      'an object without an id in its path',
      'PUT',
      '/api/dns/settings',
      { disabled_management_groups: ['ALL'] },
      {},
      200,
    ],
  ] as const)('is looked up first for %s', async (_, method, url, body, headers, status) => {
    const { first, call, lookUps } = pair;
    const all = present(
      (await first.engine.snapshots.current(first.account)).ofKind('Group').find(({ name }) => name === 'All'),
    );
    const before = lookUps();
    const sent = JSON.parse(JSON.stringify(body).replace('"ALL"', JSON.stringify(all.id)));
    const answer = await call(method, url.replace('ACCOUNT', first.account), sent, headers);
    expect([answer.status, lookUps() - before]).toEqual([status, 1]);
    // The write did not begin with the cached token: that would pause the cache.
    await call('POST', '/api/groups', { name: 'after' });
    expect(lookUps() - before).toBe(1);
  });

  it.each([
    ['a valid object', 'POST', '', { name: 'new' }],
    ['an invalid object', 'POST', '', { name: 1 }],
    ['a text that is not JSON', 'POST', '', '{'],
    ['a body that changes nothing', 'PUT', '/known', { name: 'known' }],
    ['a change', 'PUT', '/known', { name: 'changed' }],
    ['a missing object', 'PUT', '/nothing', { name: 'changed' }],
    ['a deletion', 'DELETE', '/known', undefined],
  ])('is refused with 401 for %s after another server has deleted it', async (_, method, path, body) => {
    const { first, second, user, tokenId, call } = pair;
    const url = `/api/groups${path.replace('known', await knownId(first))}`;
    expect((await second.call('DELETE', `/api/users/${user}/tokens/${tokenId}`)).status).toBe(200);
    const before = await groupNames(second);
    const answer = await call(method, url, body);
    expect([answer.status, answer.body.message]).toEqual([401, 'token invalid']);
    expect(await groupNames(second)).toEqual(before);
    expect((await call(method, url, body)).status).toBe(401);
  });

  it('is refused after another server has deleted its user', async () => {
    const { second, user, call } = pair;
    expect((await second.call('DELETE', `/api/users/${user}`)).status).toBe(200);
    const answer = await call('POST', '/api/groups', { name: 'new' });
    expect([answer.status, answer.body.message]).toEqual([401, 'token invalid']);
    expect(await groupNames(second)).toEqual(['All', 'known']);
  });

  it('is refused after another server has blocked its user', async () => {
    const { second, user, call } = pair;
    const blocked = { role: 'admin', auto_groups: [], is_blocked: true };
    expect((await second.call('PUT', `/api/users/${user}`, blocked)).status).toBe(200);
    const answer = await call('POST', '/api/groups', { name: 'new' });
    expect([answer.status, answer.body.message]).toEqual([403, 'user is blocked']);
    expect(await groupNames(second)).toEqual(['All', 'known']);
  });

  it('has only the rights that another server has left to its user', async () => {
    const { second, user, call } = pair;
    expect(
      (await second.call('PUT', `/api/users/${user}`, { role: 'user', auto_groups: [], is_blocked: false })).status,
    ).toBe(200);
    const answer = await call('POST', '/api/groups', { name: 'new' });
    expect([answer.status, answer.body.message]).toEqual([403, expect.stringContaining('the role `user`')]);
    expect(await groupNames(second)).toEqual(['All', 'known']);
  });

  it('sees what another server wrote before', async () => {
    const { first, second, call } = pair;
    const id = await second.group('elsewhere');
    expect((await call('PUT', `/api/groups/${id}`, { name: 'taken over' })).status).toBe(200);
    await second.group('taken');
    expect((await call('POST', '/api/groups', { name: 'taken' })).status).toBe(409);
    await second.call('DELETE', `/api/groups/${await knownId(first)}`);
    expect((await call('POST', '/api/groups', { name: 'known' })).status).toBe(200);
  });

  it('that is deleted does not affect the writes of others in the same batch', async () => {
    const { first, second, user, tokenId, call } = pair;
    const other = await addToken(first, user);
    await other.call('POST', '/api/groups', { name: 'known too' });
    await second.call('DELETE', `/api/users/${user}/tokens/${tokenId}`);
    const answers = await Promise.all([
      call('POST', '/api/groups', { name: 'by the deleted token' }),
      other.call('POST', '/api/groups', { name: 'by the other token' }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([401, 200]);
    expect(await groupNames(second)).toEqual(['All', 'by the other token', 'known', 'known too']);
  });

  it('is refused when it has expired since', async () => {
    const { engine, account } = pair.first;
    const expiry = Date.parse('2030-01-01T00:00:00Z');
    const { value } = await addToken(pair.first, pair.user, new Date(expiry).toISOString());
    let now = expiry - 1;
    const authenticator = createAuthenticator({
      ...{ database: engine.database, snapshots: engine.snapshots, now: () => now },
      tokenCache: createTokenCache({ notices: engine.notices, now: () => 0 }),
    });
    const fromMemory = () => authenticator.authenticateFromCache(`Token ${value}`, () => undefined);
    expect(await fromMemory()).toBeUndefined();
    await authenticator.authenticate(`Token ${value}`);
    const token = present((await fromMemory())?.cachedToken);
    const state = await engine.snapshots.current(account);
    token.requireAllowed(state);
    now = expiry;
    expect(() => token.requireAllowed(state)).toThrow('token expired');
    expect(await fromMemory()).toBeUndefined();
  });

  it('is looked up for 10 s after another server has changed the account, and after a write without a change', () => {
    const board = createNoticeBoard();
    let now = 0;
    const cache = createTokenCache({ notices: board, now: () => now });
    const owner = { account: 'a', token: 't', planOnly: false, user: 'u', revision: 1, expiresAt: 0 };
    cache.add('hash', owner);
    board.publish({ what: 'revision', account: 'a', revision: 2 });
    board.receive('r another-account 3');
    expect(cache.find('hash')).toEqual(owner);
    for (const interrupt of [() => board.receive('r a 3'), () => cache.pause('hash')]) {
      interrupt();
      now += 9999;
      expect(cache.find('hash')).toBeUndefined();
      now += 1;
      expect(cache.find('hash')).toEqual(owner);
    }
    cache.remove('hash');
    expect(cache.find('hash')).toBeUndefined();
  });

  it('is not looked up twice when its write is refused again and again', async () => {
    const statuses: number[] = [];
    for (const expected of [1, 1, 1]) {
      const before = pair.lookUps();
      statuses.push((await pair.call('POST', '/api/groups', { name: 'known' })).status);
      expect(pair.lookUps() - before).toBe(expected);
    }
    expect(statuses).toEqual([409, 409, 409]);
  });

  it('that was deleted does not show when its user may send the next request', async () => {
    const { database, [Symbol.asyncDispose]: dispose } = await testDatabase('postgres');
    await using limited = await apiOn(database, dispose, { rateLimit: { perMinute: 1, burst: 3 } });
    const { user } = await addUser(limited);
    const { id, call } = await addToken(limited, user);
    await call('GET', '/api/groups');
    await limited.engine.database.asOwner([`delete from tokens where id = '${id}'`]);
    const answers = await Promise.all([1, 2, 3, 4, 5].map((at) => call('POST', '/api/groups', { name: `${at}` })));
    expect(answers.map(({ status, headers }) => [status, headers['retry-after']])).toEqual(
      answers.map(() => [401, undefined]),
    );
  });
});
