import { describe, expect, it } from 'vitest';
import { createRequestStore } from '../../src/commit/idempotency.ts';
import type { Database } from '../../src/db/database.ts';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import { sharedParameters } from '../../src/model/lower/openapi/components.ts';
import { eachEngine } from '../setup/database.ts';
import { doc } from './documents.ts';
import { invitee } from './people.ts';
import { type Answer, sharedApi, type TestApi, testApi } from './setup.ts';

const api = sharedApi();

const post = (of: TestApi, url: string, body: Json | undefined, key: string): Promise<Answer> =>
  of.call('POST', url, body, { 'idempotency-key': key });
const file = (source: string, text: string, more: JsonObject = {}): JsonObject => ({
  source,
  files: [{ path: 'a.yaml', text }],
  ...more,
});
const groups = (...names: readonly string[]) => names.map((name) => doc('Group', name, `name: ${name}`)).join('---\n');
const named = async (of: TestApi, name: string) => (await of.call('GET', `/api/groups?name=${name}`)).body;
const isReplay = ({ headers }: Answer) => headers['idempotency-replayed'] === 'true';

const ownerOf = async ({ engine, account }: TestApi) =>
  (await engine.snapshots.current(account)).ofKind('User')[0]?.id ?? '';

async function run(database: Database, ...statements: readonly string[]): Promise<void> {
  await database.asOwner(statements);
}

eachEngine('a repeated request on %s', (engine) => {
  it('E106 is carried out once and gets the first answer; another request with its key is refused', async () => {
    await using own = await testApi(engine);
    const first = await post(own, '/api/groups', { name: 'devs', peers: [] }, 'k1');
    const again = await post(own, '/api/groups', { peers: [], name: 'devs' }, 'k1');
    expect([first.status, isReplay(first), again.status, isReplay(again)]).toEqual([200, false, 200, true]);
    expect([again.body, again.headers['etag']]).toEqual([first.body, first.headers['etag']]);
    expect(await named(own, 'devs')).toHaveLength(1);
    for (const [url, body] of [
      ['/api/groups', { name: 'ops' }],
      ['/api/networks', { name: 'devs', peers: [] }],
      ['/api/groups?x=1', { name: 'devs', peers: [] }],
    ] as const) {
      const other = await post(own, url, body, 'k1');
      expect([other.status, other.body.message]).toEqual([422, expect.stringContaining('used for another request')]);
    }
    expect((await post(own, '/api/groups', { name: 'ops' }, 'k2')).status).toBe(200);
    expect(await own.revision()).toBe(3);
  });

  it.each([
    ['k-1_~!', true],
    ['x'.repeat(255), true],
    ['x'.repeat(256), false],
    ['a b', false],
  ])('has a key that the API description permits, or is refused with 422: %s', async (key, isPermitted) => {
    const { status } = await post(api(), '/api/groups', { name: `keyed ${key.length}` }, key);
    const { minLength, maxLength, pattern } = Object(sharedParameters['IdempotencyKey']).schema;
    const matches = new RegExp(pattern).test(key) && key.length >= minLength && key.length <= maxLength;
    expect([status, matches]).toEqual([isPermitted ? 200 : 422, isPermitted]);
  });

  it('is carried out once when it is sent twenty times at once', async () => {
    await using own = await testApi(engine);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => post(own, '/api/groups', { name: 'devs' }, 'same')),
    );
    const done = answers.filter(({ status }) => status === 200);
    const waiting = answers.filter(({ status }) => status !== 200);
    expect(new Set(done.map(({ body }) => body.id)).size).toBe(1);
    for (const { status, headers, body } of waiting)
      expect([status, headers['retry-after'], body.message]).toEqual([
        409,
        '1',
        expect.stringContaining('still running'),
      ]);
    const again = await post(own, '/api/groups', { name: 'devs' }, 'same');
    expect([again.status, again.body.id]).toEqual([200, done[0]?.body.id]);
    expect([await own.revision(), await named(own, 'devs')]).toEqual([2, [expect.anything()]]);
  });
});

describe('a replayed answer', () => {
  it('may be a refusal', async () => {
    const own = api();
    await own.group('refused');
    const refused = await post(own, '/api/groups', { name: 'refused' }, 'refused');
    const [{ id }] = await named(own, 'refused');
    await own.call('DELETE', `/api/groups/${id}`);
    const again = await post(own, '/api/groups', { name: 'refused' }, 'refused');
    expect([refused.status, again.status, again.body, isReplay(again)]).toEqual([409, 409, refused.body, true]);
  });

  it('is never one that asks for a retry: after an approval the same request is carried out', async () => {
    const own = api();
    await own.call(
      'POST',
      '/api/config/apply',
      file('retried', groups('retried-a', 'retried-b', 'retried-c', 'retried-d')),
    );
    const before = await own.revision();
    const { id, digest } = (await own.call('POST', '/api/config/plans', file('retried', groups('retried-a')))).body;
    const url = `/api/config/plans/${id}`;
    expect((await post(own, `${url}/apply`, {}, 'retried')).status).toBe(428);
    await own.call('POST', `${url}/approve`, { digest });
    const applied = await post(own, `${url}/apply`, {}, 'retried');
    expect([applied.status, applied.body.revision, isReplay(applied)]).toEqual([200, before + 1, false]);
    const again = await post(own, `${url}/apply`, {}, 'retried');
    expect([again.body, isReplay(again)]).toEqual([applied.body, true]);
    expect((await own.call('POST', `${url}/apply`)).status).toBe(412);
  });

  it('shows one-time values for a day, stored sealed, and masked for a week after that', async () => {
    await using own = await testApi();
    const { database } = own.engine;
    const asked = [
      ['/api/setup-keys', { name: 'k', type: 'reusable', expires_in: 86_400, auto_groups: [], usage_limit: 0 }],
      [
        '/api/config/apply',
        file('team', doc('SetupKey', 'enrol', 'type: reusable\nexpires_in: 86400\nauto_groups: []\nusage_limit: 0')),
      ],
      [`/api/users/${await ownerOf(own)}/tokens`, { name: 'CI', expires_in: 30 }],
      ['/api/reverse-proxies/proxy-tokens', { name: 'Bern' }],
    ] as const;
    const askAll = () => Promise.all(asked.map(([url, body], at) => post(own, url, body, `k${at}`)));
    const first = await askAll();
    const again = await askAll();
    expect(again.map(isReplay)).toEqual([true, true, true, true]);
    expect(again.map(({ status, body }) => [status, body])).toEqual(first.map(({ status, body }) => [status, body]));
    expect(again.map(({ headers }) => headers['cache-control'])).toEqual(Array(4).fill('no-store'));
    const [key, applied, token, proxyToken] = first.map(({ body }) => body);
    const secrets = [key.key, applied.outputs[0].value, token.plain_token, proxyToken.plain_token];
    const before = await keptAnswers(database);
    expect(before).toContain('"name":"k"');
    for (const secret of secrets) expect(before).not.toContain(secret);
    await run(database, `update idempotency_keys set created_at = created_at - interval '25 hours'`);
    const { outputs: _, ...rest } = applied;
    expect((await askAll()).map(({ body }) => body)).toEqual([
      { ...key, key: expect.stringMatching(/\*{4}$/) },
      rest,
      { ...token, plain_token: '****' },
      { ...proxyToken, plain_token: '****' },
    ]);
    expect(await named(own, 'k')).toEqual([]);
  });

  it('shows no one-time value to a caller who may no longer see it', async () => {
    const own = api();
    const owner = await ownerOf(own);
    const admin = (
      await own.call('POST', '/api/users', { name: 'a', is_service_user: true, role: 'admin', auto_groups: [] })
    ).body.id;
    const machine = (
      await own.call('POST', '/api/users', { name: 'm', is_service_user: true, role: 'user', auto_groups: [] })
    ).body.id;
    expect(owner).not.toBe(admin);
    const { plain_token: theirs } = (
      await own.call('POST', `/api/users/${admin}/tokens`, { name: 'theirs', expires_in: 1 })
    ).body;
    const headers = { authorization: `Token ${theirs}`, 'idempotency-key': 'k' };
    const ask = () => own.call('POST', `/api/users/${machine}/tokens`, { name: 'CI', expires_in: 30 }, headers);
    const first = await ask();
    expect([first.status, (await ask()).body]).toEqual([200, first.body]);
    await own.call('PUT', `/api/users/${admin}`, { role: 'user', auto_groups: [], is_blocked: false });
    const refused = await ask();
    expect([refused.status, JSON.stringify(refused.body)]).toEqual([403, expect.not.stringContaining('nbp_')]);
  });

  it('expires after a day', async () => {
    await using own = await testApi();
    const first = await post(own, '/api/groups', { name: 'devs' }, 'k');
    await run(own.engine.database, `update idempotency_keys set created_at = created_at - interval '25 hours'`);
    const later = await post(own, '/api/groups', { name: 'devs' }, 'k');
    expect([first.status, later.status, isReplay(later)]).toEqual([200, 409, false]);
    await run(own.engine.database, `update idempotency_keys set created_at = created_at - interval '25 hours'`);
    const requests = createRequestStore(own.engine);
    const [owner] = (await own.engine.snapshots.current(own.account)).ofKind('User');
    const call = { account: own.account, revision: 0, actor: { type: 'user', id: owner?.id ?? '', name: '' } } as const;
    await requests.begin(call, { key: 'other', hash: 'h' });
    expect(await keysIn(own.engine.database)).toEqual([`${owner?.id}:other`]);
  });

  it('is for the same caller only: others may use the same key', async () => {
    const requests = createRequestStore(api().engine);
    const call = (id: string) =>
      ({ account: api().account, revision: 0, actor: { type: 'user', id, name: id } }) as const;
    const begun = await Promise.all(
      ['u1', 'u2'].map((id) => requests.begin(call(id), { key: 'shared', hash: `hash of ${id}` })),
    );
    expect(begun.map(({ state }) => state)).toEqual(['begun', 'begun']);
  });
});

describe('a lost answer', () => {
  /**
   * Runs `work` while the database cannot store the answer, as if the server died between the commit and the storing of
   * its answer.
   */
  const losing = async (own: TestApi, work: () => Promise<Answer>): Promise<Answer> => {
    await run(
      own.engine.database,
      `create function lose() returns trigger language plpgsql as $$ begin raise 'lost'; end $$`,
      'create trigger lose before update on idempotency_keys for each row when (new.status is not null) execute function lose()',
    );
    const answer = await work();
    await run(own.engine.database, 'drop trigger lose on idempotency_keys', 'drop function lose');
    expect(own.defects.splice(0)).toEqual([expect.objectContaining({ message: 'lost' })]);
    return answer;
  };

  it('to a create is rebuilt from the revision, and nothing is created twice', async () => {
    const own = api();
    const before = await own.revision();
    const first = await losing(own, () => post(own, '/api/groups', { name: 'created' }, 'created'));
    const again = await post(own, '/api/groups', { name: 'created' }, 'created');
    expect([first.status, again.status, again.body, isReplay(again)]).toEqual([200, 200, first.body, true]);
    expect([await own.revision(), await named(own, 'created')]).toEqual([before + 1, [first.body]]);
  });

  it('to the apply of a plan is rebuilt with the revision that it created', async () => {
    const own = api();
    const { id } = (await own.call('POST', '/api/config/plans', file('planned', groups('planned')))).body;
    const url = `/api/config/plans/${id}/apply`;
    const before = await own.revision();
    const first = await losing(own, () => post(own, url, {}, 'planned'));
    const again = await post(own, url, {}, 'planned');
    expect([first.status, again.status, again.body.revision]).toEqual([200, 200, before + 1]);
    expect(again.body.plan).toMatchObject({
      id,
      state: 'applied',
      appliedRevision: before + 1,
      digest: first.body.plan.digest,
    });
  });

  it('to an apply in one call is rebuilt from the history', async () => {
    const own = api();
    await own.call('POST', '/api/config/apply', file('called', groups('called')));
    const body = file(
      'called',
      groups('called').replace('name: called\n  ', '').replace('spec:\n  name: called', 'spec:\n  name: Eins'),
    );
    const first = await losing(own, () => post(own, '/api/config/apply', body, 'called'));
    expect([first.status, first.body.plan.counts.update]).toEqual([200, 1]);
    const again = await post(own, '/api/config/apply', body, 'called');
    const { changes, counts, digest, source, baseRevision } = first.body.plan;
    const [{ file: _file, line: _line, ...change }] = changes;
    expect(again.body).toMatchObject({
      revision: first.body.revision,
      plan: { counts, digest, source, baseRevision, changes: [change] },
    });
  });

  it('is not rebuilt when the history lacks it, and the request is not carried out again', async () => {
    await using own = await testApi();
    const body = { name: 'devs' };
    expect((await losing(own, () => post(own, '/api/groups', body, 'k'))).status).toBe(200);
    const revision = await own.revision();
    await own.engine.database.asOwner([`delete from changes where revision = ${revision}`]);
    const again = await post(own, '/api/groups', body, 'k');
    expect([again.status, again.body.message]).toEqual([
      409,
      expect.stringContaining(`carried out as revision ${revision}`),
    ]);
    expect(await own.revision()).toBe(revision);
  });
});

describe('a lost answer to a request that creates no revision', () => {
  /**
   * Removes the stored answer, as if the server died before it stored the answer, longer ago than values that are shown
   * once are kept.
   */
  const forget = (own: TestApi) =>
    run(
      own.engine.database,
      'update idempotency_keys set status = null, answer = null, attempted_at = to_timestamp(0)',
    );

  it.each([
    ['a token', '/api/users/me/tokens', { name: 't', expires_in: 7 }, 200],
    ['a token of proxies', '/api/reverse-proxies/proxy-tokens', { name: 't', expires_in: 0 }, 200],
    ['an invite', '/api/users/invites', invitee({ email: 'bea@example.com' }), 409],
  ])('E106 does not create %s a second time', async (_, path, body, other) => {
    const own = api();
    const me = (await own.call('GET', '/api/users/current')).body.id;
    const url = (text: string) => text.replace('/me/', `/${me}/`);
    const known = (await own.call('GET', url(path))).body.length;
    const first = await post(own, url(path), body, path);
    expect(first.status).toBe(200);
    await forget(own);
    const again = await post(own, url(path), body, path);
    expect([again.status, again.body.message]).toEqual([409, expect.stringContaining('was carried out already')]);
    expect((await own.call('GET', url(path))).body).toHaveLength(known + 1);
    expect((await post(own, url(path), body, `another-${path}`)).status).toBe(other);
  });
});

describe('an unfinished attempt', () => {
  /** Begins a request without carrying it out, like a server that dies before the commit. */
  const leave = async (own: TestApi, key: string): Promise<void> => {
    await post(own, '/api/groups', { name: key }, key);
    const [{ id }] = await named(own, key);
    await own.call('DELETE', `/api/groups/${id}`);
    // The new `created_at` makes this another attempt, for which nothing was committed.
    await run(
      own.engine.database,
      `update idempotency_keys set status = null, answer = null, created_at = now(), attempted_at = now()`,
    );
  };

  it('blocks retries with 409 at first, and is taken over after a timeout', async () => {
    const own = api();
    await leave(own, 'left');
    const waiting = await post(own, '/api/groups', { name: 'left' }, 'left');
    expect([waiting.status, waiting.headers['retry-after']]).toEqual([409, '1']);
    await run(own.engine.database, `update idempotency_keys set attempted_at = now() - interval '31 seconds'`);
    const answers = await Promise.all([1, 2, 3].map(() => post(own, '/api/groups', { name: 'left' }, 'left')));
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThan(0);
    expect(await named(own, 'left')).toHaveLength(1);
    expect((await post(own, '/api/groups', { name: 'left' }, 'left')).status).toBe(200);
  });
});

it.each(['', ' ', 'two words', 'ü', 'x'.repeat(256)])('the idempotency key %j is refused with 422', async (key) => {
  const { status, body } = await post(api(), '/api/groups', { name: 'never' }, key);
  expect([status, body.message]).toEqual([422, expect.stringContaining('`Idempotency-Key` must be')]);
  expect(await named(api(), 'never')).toEqual([]);
});

it('an idempotency key is ignored on GET', async () => {
  const headers = { 'idempotency-key': 'k' };
  const first = await api().call('GET', '/api/groups', undefined, headers);
  await api().group('another');
  const second = await api().call('GET', '/api/groups', undefined, headers);
  expect(second.body).toHaveLength(first.body.length + 1);
});

it('a plan requested twice with one idempotency key is stored once', async () => {
  await using own = await testApi();
  const first = await post(own, '/api/config/plans', file('team', groups('one')), 'k');
  await run(
    own.engine.database,
    'update idempotency_keys set status = null, answer = null, attempted_at = to_timestamp(0)',
  );
  const again = await post(own, '/api/config/plans', file('team', groups('one')), 'k');
  expect([first.status, again.status, again.body]).toEqual([201, 201, first.body]);
  expect((await own.call('GET', '/api/config/plans')).body).toHaveLength(1);
});

async function keptAnswers(database: Database): Promise<string> {
  let text = '';
  await database.asOwner(async (sql) => {
    text = JSON.stringify(await sql('select answer from idempotency_keys')).replaceAll('\\', '');
  });
  return text;
}

async function keysIn(database: Database): Promise<readonly unknown[]> {
  let keys: readonly unknown[] = [];
  await database.asOwner(async (sql) => {
    keys = (await sql('select key from idempotency_keys')).map(({ key }) => key);
  });
  return keys;
}

it('when bookkeeping fails after the commit, an apply is answered as applied, and the failure is logged', async () => {
  const lines: string[] = [];
  await using own = await testApi('postgres', { log: ({ message }) => lines.push(message) });
  const two = (first: string, name: string) => `${first}${groups('a')}---\n${doc('Group', 'b', `name: ${name}`)}`;
  await own.call('POST', '/api/config/apply', file('team', two('', 'b')));
  await run(
    own.engine.database,
    `create function lose() returns trigger language plpgsql as $$ begin raise 'lost'; end $$`,
    'create trigger lose before update on declared for each row when (new.stated = old.stated) execute function lose()',
  );
  // One document changes; the other only moves by one line.
  const { status, body } = await own.call('POST', '/api/config/apply', file('team', two('# moved\n', 'other')));
  await run(own.engine.database, 'drop trigger lose on declared', 'drop function lose');
  expect([status, body.revision]).toEqual([200, 3]);
  expect(lines.filter((line) => line.includes('failed after the commit'))).toHaveLength(1);
});
