import { expect, onTestFinished, test } from 'vitest';
import type { Json } from '../../src/lib/json.ts';
import { patch, person, team } from '../integrations/scim/client.ts';
import { temporaryDirectory } from '../setup/database.ts';
import { type ServedHeddle, serveHeddle } from '../setup/heddle.ts';
import { startPostgres } from '../setup/server.ts';
import { ask, openReplicas, token as owner } from './replicas.ts';

interface Answer {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly type: string | null;
  // Tests look into bodies member by member; a wrong member is `undefined` and fails the test.
  // biome-ignore lint/suspicious/noExplicitAny: see above.
  readonly body: any;
}

/** Sends a request of an identity provider to one of the servers. Throws when no answer arrives. */
type Provider = (server: ServedHeddle, method: string, path: string, body?: Json) => Promise<Answer>;

/** Adds an integration. Its provider may send requests to any server of the account. */
async function integrate(server: ServedHeddle): Promise<Provider> {
  const made = await ask(server, 'POST', '/api/integrations/scim-idp', { prefix: 'staff', provider: 'generic' });
  const token = String(made.body.auth_token);
  return async ({ url }, method, path, body) => {
    const response = await fetch(`${url}/scim/v2${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const { status, headers } = response;
    return {
      ...{ status, retryAfter: headers.get('retry-after'), type: headers.get('content-type') },
      body: text === '' ? {} : JSON.parse(text),
    };
  };
}

async function openServers() {
  const replicas = await openReplicas();
  onTestFinished(() => replicas[Symbol.asyncDispose]());
  return replicas;
}

async function addUsers(scim: Provider, server: ServedHeddle, count: number): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let at = 0; at < count; at++)
    ids.push((await scim(server, 'POST', '/Users', person(`member-${at}@example.com`))).body.id);
  return ids;
}

const found = async (scim: Provider, server: ServedHeddle, path: string, filter: string) =>
  (await scim(server, 'GET', `${path}?filter=${encodeURIComponent(filter)}`)).body.Resources ?? [];

const membersOf = async (scim: Provider, server: ServedHeddle, group: string): Promise<readonly string[]> =>
  ((await scim(server, 'GET', `/Groups/${group}`)).body.members ?? []).map(
    ({ value }: { readonly value: string }) => value,
  );

test('after kill -9 among SCIM requests, acknowledged ones are kept, others are whole or absent and can be sent again', async () => {
  const replicas = await openServers();
  const first = await replicas.start();
  const scim = await integrate(first);
  const members = await addUsers(scim, first, 10);
  const acknowledged = new Set<string>();
  let killed: Promise<unknown> | undefined;
  // Users, and groups with ten members, are sent over several connections, and the server is killed during that.
  const send = async (server: ServedHeddle, at: number): Promise<number> => {
    const { status } =
      at % 2 === 0
        ? await scim(server, 'POST', '/Users', person(`user-${at}@example.com`, { externalId: `u${at}` }))
        : await scim(server, 'POST', '/Groups', team(`Group ${at}`, members, { externalId: `g${at}` }));
    return status;
  };
  const all = Array.from({ length: 80 }, (_, at) => at);
  const connection = async (from: number) => {
    for (const at of all.filter((one) => one % 4 === from)) {
      const status = await send(first, at).catch(() => undefined);
      if (status === undefined) return;
      expect(status).toBe(201);
      acknowledged.add(String(at));
      if (acknowledged.size === 20) killed = first.stop('SIGKILL');
    }
  };
  await Promise.all([0, 1, 2, 3].map(connection));
  await killed;
  expect(acknowledged.size).toBeGreaterThanOrEqual(20);
  expect(acknowledged.size).toBeLessThan(all.length);
  const second = await replicas.start();
  const isThere = async (at: number): Promise<boolean> => {
    const list = await (at % 2 === 0
      ? found(scim, second, '/Users', `userName eq "user-${at}@example.com"`)
      : found(scim, second, '/Groups', `externalId eq "g${at}"`));
    expect(list.length).toBeLessThanOrEqual(1);
    if (list.length === 0) return false;
    if (at % 2 === 0) expect(list[0]).toMatchObject({ externalId: `u${at}`, active: true });
    else expect(list[0].members).toHaveLength(members.length);
    return true;
  };
  // The provider sends everything again, because it does not know what was stored. 409 means that the object exists
  // already.
  for (const at of all) {
    const before = await isThere(at);
    if (acknowledged.has(String(at))) expect(before, `${at} was acknowledged`).toBe(true);
    expect(await send(second, at)).toBe(before ? 409 : 201);
    expect(await isThere(at)).toBe(true);
  }
  expect((await scim(second, 'GET', '/Users?count=0')).body.totalResults).toBe(50);
  expect((await scim(second, 'GET', '/Groups?count=0')).body.totalResults).toBe(40);
});

test('SCIM requests get 503 with Retry-After while Postgres is down, and are carried out once when sent again', async () => {
  const postgres = await startPostgres();
  onTestFinished(() => postgres[Symbol.asyncDispose]());
  const args = ['--database-url', postgres.url('postgres'), '--data-dir', await temporaryDirectory()];
  const env = { HEDDLE_BOOTSTRAP_TOKEN: owner, HEDDLE_SECRET_KEY: Buffer.alloc(32, 5).toString('base64') };
  await using server = await serveHeddle(args, { env });
  const scim = await integrate(server);
  const [ana = '', ben = '', cem = ''] = await addUsers(scim, server, 3);
  const group = (await scim(server, 'POST', '/Groups', team('Staff', [ana]))).body.id;
  const logs = async () => (await ask(server, 'GET', '/api/integrations/scim-idp/1/logs')).body;
  const before = await logs();
  const change = patch(
    { op: 'replace', path: 'displayName', value: 'Crew' },
    { op: 'add', path: 'members', value: [{ value: ben }, { value: cem }] },
  );
  const requests = [
    ['POST', '/Users', person('new@example.com')],
    ['PATCH', `/Groups/${group}`, change],
    ['PUT', `/Users/${ana}`, person('member-0@example.com', { displayName: 'Ana' })],
    ['DELETE', `/Users/${cem}`],
    ['GET', '/Users'],
  ] as const;
  await postgres.stop('kill');
  for (const [method, path, body] of requests) {
    const answer = await scim(server, method, path, body);
    expect(answer, `${method} ${path}`).toMatchObject({
      ...{ status: 503, type: 'application/scim+json; charset=utf-8' },
      body: { schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'], status: '503' },
    });
    expect(Number(answer.retryAfter)).toBeGreaterThan(0);
  }
  await postgres.start();
  await expect.poll(async () => (await scim(server, 'GET', '/Users?count=0')).status).toBe(200);
  // No request is half executed, and the log reports none as refused.
  expect((await scim(server, 'GET', '/Users?count=0')).body.totalResults).toBe(3);
  expect((await scim(server, 'GET', `/Groups/${group}`)).body.displayName).toBe('Staff');
  expect(await membersOf(scim, server, group)).toEqual([ana]);
  expect(await logs()).toEqual(before);
  const again: number[] = [];
  for (const [method, path, body] of requests) again.push((await scim(server, method, path, body)).status);
  expect(again).toEqual([201, 204, 200, 204, 200]);
  expect([...(await membersOf(scim, server, group))].sort()).toEqual([ana, ben].sort());
  expect((await scim(server, 'GET', '/Users?count=0')).body.totalResults).toBe(3);
});

test("two servers show a SCIM provider each other's writes from the next request on", async () => {
  const replicas = await openServers();
  const servers = [await replicas.start(), await replicas.start()] as const;
  const scim = await integrate(servers[0]);
  const group = (await scim(servers[1], 'POST', '/Groups', team('Staff'))).body.id;
  for (let turn = 0; turn < 20; turn++) {
    const [writer, reader] = turn % 2 === 0 ? servers : ([servers[1], servers[0]] as const);
    const made = await scim(writer, 'POST', '/Users', person(`user-${turn}@example.com`));
    expect(made.status, JSON.stringify(made.body)).toBe(201);
    const { id } = made.body;
    expect((await scim(reader, 'GET', `/Users/${id}`)).body).toMatchObject({ id, active: true });
    const add = patch({ op: 'add', path: 'members', value: [{ value: id }] });
    expect((await scim(reader, 'PATCH', `/Groups/${group}`, add)).status).toBe(204);
    expect(await membersOf(scim, writer, group)).toHaveLength(turn + 1);
    const rename = patch({ op: 'replace', path: 'displayName', value: `User ${turn}` });
    expect((await scim(writer, 'PATCH', `/Users/${id}`, rename)).body.displayName).toBe(`User ${turn}`);
    expect(await found(scim, reader, '/Users', `displayName eq "User ${turn}"`)).toMatchObject([{ id }]);
  }
  // Both servers change the same group at the same time, and no change is lost.
  const users = (await scim(servers[0], 'GET', '/Users?count=500')).body.Resources;
  const few = users.slice(0, 5).map(({ id }: { readonly id: string }) => id);
  const remove = (id: string) => patch({ op: 'remove', path: `members[value eq "${id}"]` });
  const answers = await Promise.all(
    few.flatMap((id: string) => servers.map((server) => scim(server, 'PATCH', `/Groups/${group}`, remove(id)))),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(204));
  for (const server of servers) expect(await membersOf(scim, server, group)).toHaveLength(15);
});
