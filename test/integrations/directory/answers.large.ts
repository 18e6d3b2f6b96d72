import { expect, test } from 'vitest';
import { certificate } from '../../sources/https-certificate.ts';
import type { Instead } from './counterpart.ts';
import { integrationSpec, openReading } from './scene.ts';

const mail = (id: string) => `${id}@corp.example.com`;

/** Opens the scene of `openReading` with three users and a group in the directory. */
async function openScene(...more: Parameters<typeof openReading>) {
  const scene = await openReading(...more);
  for (const id of ['ana', 'ben', 'cem']) scene.directory.putUser(id);
  scene.directory.putGroup('g1', 'mesh-dev', ['ana', 'ben']);
  const { origin } = new URL(scene.counterpart.api);
  return {
    ...scene,
    host: origin.replace('http://', ''),
    failed: () => scene.rows("select meta from audit_events where activity_code = 'integration.sync_failed'"),
    /** Returns the number of seconds until the next sync is due. */
    wait: async () =>
      (
        await scene.rows(
          'select round(extract(epoch from next_at - clock_timestamp()))::int as seconds from directory_syncs',
        )
      )[0]?.['seconds'],
  };
}

test('a token of the directory is used until shortly before it expires, and not after', async () => {
  const { counterpart, sync, users } = await openScene();
  counterpart.tokenSeconds = 1;
  counterpart.next((_, answer) => setTimeout(answer, 600));
  await sync();
  expect(counterpart.requests.filter((one) => one === 'token')).toHaveLength(2);
  expect(counterpart.faults).toEqual([]);
  expect(await users()).toHaveLength(3);
});

test('a token that is revoked during a sync is replaced, and no page is read twice', async () => {
  const { counterpart, sync, users } = await openScene();
  counterpart.pageSize = 1;
  counterpart.next((_, answer) => {
    answer();
    counterpart.revokeTokens();
  });
  await sync();
  expect(await users()).toHaveLength(3);
  expect(counterpart.requests.slice(0, 5)).toEqual([
    ...['token', 'groups/delta $select', 'groups/delta $skiptoken'],
    ...['token', 'groups/delta $skiptoken'],
  ]);
});

test('a sync fails without endless attempts when the directory accepts no token', async () => {
  const { counterpart, sync, host } = await openScene();
  counterpart.next(
    { status: 401, code: 'InvalidAuthenticationToken' },
    { status: 401, code: 'InvalidAuthenticationToken' },
  );
  expect(await sync()).toBe(
    `the sync failed: ${host} answers 401 (InvalidAuthenticationToken): it does not accept the token that it issued a moment ago; it continues automatically`,
  );
});

test('a sync obeys the Retry-After of the directory, and resumes where it stopped', async () => {
  const { counterpart, sync, users, host, wait, logs } = await openScene();
  counterpart.pageSize = 1;
  counterpart.next((_, answer) => answer(), {
    status: 429,
    headers: { 'retry-after': '240' },
    code: 'TooManyRequests',
  });
  expect(await sync()).toBe(`the sync failed: ${host} answers 429 (TooManyRequests); it continues automatically`);
  expect(await wait()).toBeGreaterThan(230);
  counterpart.requests.length = 0;
  await sync();
  expect(await users()).toHaveLength(3);
  expect(counterpart.requests.slice(0, 2)).toEqual(['token', 'groups/delta $skiptoken']);
  expect(await logs()).toContain('info: the directory answers again');
});

test('a sync obeys the Retry-After of the sign-in too', async () => {
  const { counterpart, sync, host, wait } = await openScene();
  counterpart.nextToken(429, { error: 'temporarily_unavailable' }, { 'retry-after': '200' });
  expect(await sync()).toBe(`the sync failed: ${host} answers 429; it continues automatically`);
  expect(await wait()).toBeGreaterThan(190);
});

test('the time of the next attempt is stored before the directory answers', async () => {
  const { counterpart, sync, rows } = await openScene();
  const noted: unknown[] = [];
  const look = async (): Promise<void> =>
    void noted.push(...(await rows('select next_at > now() as is_later, ended_at from directory_syncs')));
  counterpart.next((response) => void look().then(() => response.writeHead(503).end()));
  expect(await sync()).toContain('answers 503');
  expect(noted).toEqual([{ is_later: true, ended_at: null }]);
});

const truncated: Instead = (response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
  response.write('{"value":[{"id":"an', () => response.destroy());
};
const redirect: Instead = (response) => response.writeHead(302, { location: 'https://elsewhere.example.com/' }).end();
const says =
  (body: string): Instead =>
  (response) =>
    response.writeHead(200).end(body);

test.each<readonly [string, Instead, RegExp]>([
  [
    '503',
    { status: 503, code: 'ServiceUnavailable' },
    /answers 503 \(ServiceUnavailable\); it continues automatically$/,
  ],
  ['half an answer', truncated, /does not answer as it should \(\w+\); it continues automatically$/],
  ['no JSON', says('<html>'), /answers 200 without valid JSON; it continues automatically$/],
  ['no list', says('{"@odata.deltaLink":"x"}'), /answers 200 without a list; it continues automatically$/],
  [
    'a page without an end',
    says('{"value":[]}'),
    /answers with a page that has no link to the rest of the list; it continues automatically$/,
  ],
  [
    'a link to another host',
    says('{"value":[],"@odata.nextLink":"https://elsewhere.example.com/v1.0/x"}'),
    /answers with a link to another origin, which is not followed/,
  ],
  [
    'a group without an id',
    says('{"value":[{"displayName":"x"}],"@odata.deltaLink":"/"}'),
    /^the sync failed: the directory lists a group without an id; it continues automatically$/,
  ],
  [
    'a page of values that take up much more memory than text',
    says(`{"value":[${'{},'.repeat(1_000_000)}{}],"@odata.deltaLink":"/"}`),
    /answers with more than 1000000 values; such an answer is not read; it continues automatically$/,
  ],
  [
    'a page that is much longer than was asked for',
    says(`{"value":[${'{},'.repeat(9990)}{}],"@odata.deltaLink":"/"}`),
    /answers with a list of 9991 items; the maximum is 9990; it continues automatically$/,
  ],
  ['a redirect', redirect, /answers with a redirect, which is not followed/],
  [
    'a refusal',
    { status: 403, code: 'Authorization_RequestDenied' },
    /grant it User.Read.All and GroupMember.Read.All/,
  ],
])('after %s the users are unchanged, and the next sync continues', async (_, instead, message) => {
  const { directory, counterpart, sync, users, state, logs } = await openScene();
  await sync();
  const { revision } = await state();
  directory.removeUser('ana');
  counterpart.next(instead);
  const result = await sync();
  expect(result).toMatch(message);
  expect((await state()).revision).toBe(revision);
  expect((await logs())[0]).toBe(`error: ${result}`);
  await sync();
  expect(await users()).toEqual(['ben', 'cem'].map(mail));
});

test('a request without an answer is given up, the users are unchanged, and the next sync continues', async () => {
  const { directory, counterpart, open, sync, users, state, logs, host } = await openScene();
  await sync();
  const { revision } = await state();
  directory.removeUser('ana');
  const givenUp = Promise.withResolvers<void>();
  counterpart.next((response) => response.on('close', givenUp.resolve));
  const result = await sync(open(undefined, { timeoutMs: 1500 }));
  // The token arrived in time, and the sync sent no request after the one that was not answered.
  expect(counterpart.requests.slice(-2)).toEqual(['token', 'groups/delta $deltatoken']);
  expect(result).toBe(`the sync failed: ${host} did not answer within 1.5 s; it continues automatically`);
  await givenUp.promise;
  expect((await state()).revision).toBe(revision);
  expect((await logs())[0]).toBe(`error: ${result}`);
  await sync();
  expect(await users()).toEqual(['ben', 'cem'].map(mail));
});

test('a sync stops at a page link that leads back to an earlier page', async () => {
  const { counterpart, sync } = await openScene();
  const page =
    (name: string): Instead =>
    (response) =>
      response
        .writeHead(200)
        .end(
          JSON.stringify({ value: [], '@odata.nextLink': `${counterpart.api}/v1.0/groups/delta?$skiptoken=${name}` }),
        );
  counterpart.next(page('one'), page('two'), page('one'));
  expect(await sync()).toBe(
    'the sync failed: the directory answers with a page that links to itself, or with an endless list; it continues automatically',
  );
});

test('a sync that takes too long is interrupted for other directories, and resumes where it stopped', async () => {
  const { counterpart, open, sync, users } = await openScene();
  counterpart.pageSize = 1;
  counterpart.next((_, answer) => setTimeout(answer, 900));
  expect(await sync(open(undefined, { deadlineMs: 800, timeoutMs: 5000 }))).toBe(
    'the sync failed: not everything could be read within 0.8 s; it continues automatically',
  );
  await sync();
  expect(await users()).toHaveLength(3);
});

test.each([
  ['400 syncStateNotFound', { status: 400, code: 'syncStateNotFound' }],
  ['410', { status: 410, code: 'resyncRequired' }],
] as const)('expired delta links (%s) cause a full read, and missing users are blocked', async (_, answer) => {
  const { directory, counterpart, sync, users, user } = await openScene();
  for (const id of ['dev', 'eve', 'fay']) directory.putUser(id);
  await sync();
  const before = await user(mail('ben'));
  directory.clear();
  for (const id of ['ben', 'cem', 'dev', 'eve', 'fay']) directory.putUser(id);
  counterpart.requests.length = 0;
  counterpart.next(answer);
  await sync();
  expect(counterpart.requests.slice(0, 4)).toEqual([
    ...['token', 'groups/delta $deltatoken', 'groups/delta $select', 'users/delta $select'],
  ]);
  expect(await users()).toEqual(['ben', 'cem', 'dev', 'eve', 'fay'].map(mail));
  expect((await user(mail('ben'))).id).toBe(before.id);
});

test.each<readonly [number, number, string]>([
  [401, 7000215, 'the client secret is wrong; write its value, not its id, in Base64 into client_secret'],
  [401, 7000222, 'the client secret has expired; make a new one at the directory and write it into client_secret'],
  [400, 90002, 'there is no tenant b4f7c2d0-13a8-4f5e-8a67-2c9d1e0f3b55; correct tenant_id'],
  [400, 70011, 'refuses the application: 400 invalid_client, AADSTS70011; see whether tenant_id'],
])('a refused sign-in (%i, %i) is reported with advice', async (status, code, message) => {
  const { counterpart, sync, wait, failed } = await openScene();
  const { secret } = counterpart;
  counterpart.nextToken(status, { error: 'invalid_client', error_description: secret, error_codes: [code] });
  expect(await sync()).toContain(message);
  // The sync is repeated at the usual interval, because an administrator may correct the fault on the side of the
  // directory.
  expect(await wait()).toBeGreaterThan(290);
  expect(await failed()).toEqual([{ meta: { platform: 'directory', reason: expect.stringContaining(message) } }]);
});

test('a corrected client secret is used at once, and appears in no log, event or row', async () => {
  const { counterpart, sync, users, change, reading, rows, logs, failed } = await openScene();
  counterpart.secret = 'another~secret';
  expect(await sync()).toContain('the client secret is wrong');
  expect(await failed()).toHaveLength(1);
  reading.run();
  await change(integrationSpec(counterpart));
  await expect.poll(users).toHaveLength(3);
  await expect.poll(logs).toContain('info: the directory answers again');
  const stored = await rows(
    'select (select json_agg(s) from directory_syncs s)::text || (select json_agg(e) from audit_events e)::text || (select json_agg(l) from sync_logs l)::text as all',
  );
  const all = JSON.stringify(stored);
  expect(all.length).toBeGreaterThan(500);
  for (const secret of ['Pq8~secret/of+the-app', 'another~secret', 'bearer-'].flatMap((one) => [
    one,
    Buffer.from(one).toString('base64'),
  ]))
    expect(all).not.toContain(secret);
  expect(reading.reports).toEqual([]);
});

test('a directory that is down for long is reported once, and read when it is back', async () => {
  const { counterpart, sync, failed } = await openScene();
  const away = { status: 503, code: 'ServiceUnavailable' };
  for (const _ of Array.from({ length: 7 })) {
    counterpart.next(away);
    await sync();
  }
  expect(await failed()).toHaveLength(1);
  expect(await sync()).toContain('4 created');
});

test('a certificate of a private authority is accepted only when the operator trusts the authority', async () => {
  const { open, sync, users, failed } = await openScene({}, { secure: true });
  expect(await sync()).toMatch(
    /does not trust \((DEPTH_ZERO_)?SELF_SIGNED_CERT\w*\); the operator can add the authority with HEDDLE_OUTBOUND_CA; it continues automatically$/,
  );
  expect(await failed()).toEqual([]);
  await sync(open(undefined, { authorities: certificate }));
  expect(await users()).toHaveLength(3);
});

test('an unknown directory host and an invalid tenant are refused without a request', async () => {
  const { call, counterpart, create, reading, state } = await openScene();
  const resultOf = async (id: string) =>
    (await reading.requestSync(call, (await state()).get(id) ?? expect.fail('it is there'), { dryRun: false })).result;
  const unknown = await create(integrationSpec(counterpart, { host: 'directory.example.org' }));
  expect(await resultOf(unknown)).toBe(
    'the sync failed: directory.example.org is not a directory that this server knows (known are directory.example.com, microsoft.com, microsoft.us, chinacloudapi.cn); create the integration again with one of these, or ask the operator to add it to HEDDLE_DIRECTORY_HOSTS',
  );
  const malformed = await create(integrationSpec(counterpart, { tenant_id: '../common' }));
  expect(await resultOf(malformed)).toBe(
    'the sync failed: ../common is not a valid tenant; write its id or its domain',
  );
  expect(counterpart.requests).toEqual([]);
});
