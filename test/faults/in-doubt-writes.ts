import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { statement } from '../../src/db/builder.ts';
import { loadSnapshot } from '../../src/db/commit/snapshots.ts';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { hashToken } from '../../src/features/auth/authenticate.ts';
import { inviteHash } from '../../src/features/auth/invite-tokens.ts';
import { enrolPeer } from '../../src/features/peers/enrolment/enrolment.ts';
import { sha256Base64 } from '../../src/lib/node-pure.ts';
import { Unavailable } from '../../src/model/errors.ts';
import { doc } from '../api/documents.ts';
import { type Answer, apiOn, type TestApi } from '../api/setup.ts';
import { policyBody } from '../commit/office.ts';
import { objectsOf } from '../plan/invariants.ts';
import { testDatabase } from '../setup/database.ts';
import { type CuttingProxy, openCuttingProxy } from './cutting-proxy.ts';

/** Result of writes over connections that were cut all the time. */
export interface InDoubtWrites {
  /** Number of successful writes, by shape. */
  readonly done: Readonly<Record<string, number>>;
  /** Number of writes whose connection broke before the database reported the outcome. */
  readonly doubts: number;
  /** Number of writes that were answered with an unknown outcome, although the database could be queried. */
  readonly unknown: number;
  /** Answers that do not match the committed state. */
  readonly wrong: readonly string[];
}

/** The server behind the proxy, and a direct connection to the database. */
interface Scene {
  readonly api: TestApi;
  readonly proxy: CuttingProxy;
  readonly truth: Database;
  readonly all: string;
  readonly owner: string;
  readonly key: string;
  /** A peer that exists all the time. */
  readonly peer: string;
}

/** A write and its answer, which is compared with the database at the end. */
interface Said {
  readonly shape: string;
  readonly name: string;
  readonly status: number;
  readonly isUnknown: boolean;
  readonly body: Answer['body'];
  /** Checks that the database contains a successful write exactly once, or nothing of a refused write. */
  readonly holds: (isDone: boolean) => Promise<boolean>;
}

/**
 * Sends writes of every shape while each connection to the database is cut at a random byte: before Postgres has begun,
 * while it works, or before its answer has arrived. Continues until the expected number of writes were in doubt, and
 * some writes of each expected shape succeeded.
 */
export async function writeInDoubt(
  expected: { readonly doubts: number; readonly shapes?: readonly string[] },
  random: () => number,
): Promise<InDoubtWrites> {
  await using made = await testDatabase('postgres');
  await using proxy = await openCuttingProxy(made.url ?? '', random);
  const behind = await openDatabase({ url: proxy.url, poolSize: 4, silenceMs: 500 });
  const counted = countDoubts(behind);
  await using api = await apiOn(counted.database, () => behind.close());
  const scene = await prepare(api, proxy, made.database);
  proxy.set('cutting');
  const said: Said[] = [];
  const isDone = (shape: string): boolean => said.some((one) => one.shape === shape && one.status < 300);
  const goesOn = (): boolean => counted.doubts() < expected.doubts || expected.shapes?.every(isDone) === false;
  const client = async (number: number): Promise<void> => {
    for (let turn = 0; goesOn(); turn++) said.push(...(await oneRound(scene, number, turn)));
  };
  await Promise.all(Array.from({ length: 6 }, (_, number) => client(number)));
  proxy.set('clear');
  await api.engine.committer.settle();
  const wrong = await compare(said);
  await expectOneHistory(scene);
  // Requests that are refused because the connection broke are not defects. No other errors are allowed.
  expect(api.defects.filter((error) => !(error instanceof Unavailable))).toEqual([]);
  api.defects.splice(0);
  const done = Map.groupBy(
    said.filter(({ status }) => status < 300),
    ({ shape }) => shape,
  );
  return {
    done: Object.fromEntries([...done].map(([shape, some]) => [shape, some.length])),
    doubts: counted.doubts(),
    unknown: said.filter(({ isUnknown }) => isUnknown).length,
    wrong,
  };
}

async function prepare(api: TestApi, proxy: CuttingProxy, truth: Database): Promise<Scene> {
  const state = await api.engine.snapshots.current(api.account);
  const setupKey = { name: 'many', type: 'reusable', expires_in: 86_400, auto_groups: [], usage_limit: 0 };
  const key = await api.call('POST', '/api/setup-keys', setupKey);
  const [peer = ''] = await api.peers('target');
  return {
    ...{ api, proxy, truth, peer },
    all: state.lookUp('Group', 'name', 'All')[0]?.id ?? '',
    owner: state.ofKind('User')[0]?.id ?? '',
    key:
      (await api.engine.snapshots.current(api.account)).ofKind('SetupKey').find(({ name }) => name === key.body.name)
        ?.id ?? '',
  };
}

/** Sends one write of every shape. */
async function oneRound(scene: Scene, client: number, turn: number): Promise<readonly Said[]> {
  const { all, owner } = scene;
  const name = (what: string) => `${what}-${client}-${turn}`;
  const said: Said[] = [];
  const post = async (shape: string, url: string, body: object, holds: (body: Answer['body']) => Promise<number>) => {
    const key = turn % 2 === 0 ? name(shape) : undefined;
    const answer = await ask(scene, 'POST', url, body, key);
    const unique = JSON.stringify(body);
    said.push({
      shape,
      name: unique,
      ...answer,
      holds: async (isDone) => (await holds(answer.body)) === (isDone ? 1 : 0),
    });
    return answer.status < 300 ? answer.body : undefined;
  };
  const groups = (label: string, id?: string) => rowsOf(scene, 'Group', label, id);
  const group = await post('create', '/api/groups', { name: name('g') }, ({ id }) => groups(name('g'), id));
  if (group !== undefined) {
    const url = `/api/groups/${group.id}`;
    const replaced = await ask(scene, 'PUT', url, { name: name('again') });
    const isReplaced = replaced.status < 300;
    said.pop();
    said.push({
      ...{ shape: 'replace', name: name('again'), ...replaced },
      holds: async (isDone) => (await groups(name('again'), group.id)) <= (isDone ? 1 : 0),
    });
    const deleted = await ask(scene, 'DELETE', url);
    said.push({
      ...{ shape: 'delete', name: group.id, ...deleted },
      holds: async (isDone) => (await groups(isReplaced ? name('again') : name('g'), group.id)) === (isDone ? 0 : 1),
    });
  }
  await post('policy', '/api/policies', policyBody(name('p'), all), ({ id }) => rowsOf(scene, 'Policy', name('p'), id));
  await post(
    'key',
    '/api/setup-keys',
    { name: name('k'), type: 'reusable', expires_in: 86_400, auto_groups: [], usage_limit: 0 },
    async ({ key }) => (key === undefined ? rowsOf(scene, 'SetupKey', name('k')) : entriesOf(scene, sha256Base64(key))),
  );
  const token = await post('token', `/api/users/${owner}/tokens`, { name: name('t'), expires_in: 1 }, async (body) =>
    body.plain_token === undefined ? tokensOf(scene, name('t')) : entriesOf(scene, hashToken(body.plain_token)),
  );
  if (token !== undefined && turn % 2 === 1) {
    said.pop();
    const answer = await ask(scene, 'DELETE', `/api/users/${owner}/tokens/${token.personal_access_token.id}`);
    said.push({
      ...{ shape: 'token-delete', name: name('t'), ...answer },
      holds: async (isDone) => (await tokensOf(scene, name('t'))) === (isDone ? 0 : 1),
    });
  }
  await post('proxy-token', '/api/reverse-proxies/proxy-tokens', { name: name('x') }, async ({ plain_token: value }) =>
    value === undefined
      ? count(scene, 'select count(*) as found from proxy_tokens where name = $1', name('x'))
      : entriesOf(scene, sha256Base64(value)),
  );
  const email = `${name('invited')}@example.com`;
  const invite = { email, name: 'Ana', role: 'user', auto_groups: [] };
  await post('invite', '/api/users/invites', invite, async ({ invite_token: value }) =>
    value === undefined
      ? count(scene, 'select count(*) as found from invites where email = $1', email)
      : entriesOf(scene, inviteHash(value) ?? ''),
  );
  const user = { email: `${name('person')}@example.com`, name: 'Bea', role: 'user', auto_groups: [] };
  await post('person', '/api/users', { ...user, is_service_user: false }, async () =>
    count(scene, 'select count(*) as found from credentials where email = $1', user.email),
  );
  // The number of push sources is not limited, unlike the number of Git sources.
  const source = { name: name('office'), type: 'push' };
  await post('source', '/api/config/sources', source, async () =>
    count(scene, 'select count(*) as found from sources where id = $1', source.name),
  );
  const domain = `${name('tenant')}.example.com`;
  await post('tenant', '/api/integrations/msp/tenants', { name: name('tenant'), domain, groups: [] }, async ({ id }) =>
    id === undefined
      ? rowsOf(scene, 'MSPTenant', name('tenant'))
      : count(scene, 'select count(*) as found from accounts where account_id = $1', String(id)),
  );
  const asked = { name: name('browser'), wg_pub_key: randomBytes(32).toString('base64'), rules: ['tcp/22'] };
  await post('temporary-access', `/api/peers/${scene.peer}/temporary-access`, asked, async ({ id }) =>
    rowsOf(scene, 'Peer', name('browser'), id),
  );
  const file = (source: string, label: string) => ({
    source,
    files: [{ path: 'a.yaml', text: doc('Group', label, `name: ${label}`) }],
  });
  const plan = await post('plan', '/api/config/plans', file(name('saved'), name('s')), async ({ id }) =>
    plansOf(scene, name('saved'), id),
  );
  if (plan !== undefined)
    await post('apply', `/api/config/plans/${plan.id}/apply`, {}, async ({ revision }) =>
      revision === null ? -1 : groups(name('s')),
    );
  const still =
    plan === undefined
      ? undefined
      : (await ask(scene, 'POST', '/api/config/plans', file(name('saved'), name('s')))).body;
  if (still?.id !== undefined && still.counts.create === 0)
    await post('apply-nothing', `/api/config/plans/${still.id}/apply`, {}, async () =>
      count(scene, `select count(*) as found from plans where id = $1 and state = 'applied'`, still.id),
    );
  await post('push', '/api/config/apply', file(name('pushed'), name('d')), async ({ revision }) =>
    revision === null ? -1 : groups(name('d')),
  );
  said.push(await enrol(scene, name('peer')));
  return said;
}

interface Asked {
  readonly status: number;
  readonly isUnknown: boolean;
  readonly body: Answer['body'];
}

/**
 * Sends a request. With a key, repeats it until there is an answer, and then sends it again: the second answer must be
 * equal.
 */
async function ask(scene: Scene, method: string, url: string, body?: object, key?: string): Promise<Asked> {
  const { api, truth } = scene;
  const headers = key === undefined ? undefined : { 'idempotency-key': key };
  const send = async (): Promise<Asked> => {
    const answer = await api.call(method, url, body as never, headers);
    const isUnknown = answer.status === 503 && answer.body.problems?.[0]?.code === 'in_doubt';
    if (isUnknown) expect(answer.body.request).toMatch(/./);
    return { status: answer.status, isUnknown, body: answer.body };
  };
  const isPassing = ({ status, body: { message } }: Asked) =>
    status === 503 || status === 423 || (status === 409 && /is still running|send it again/.test(message));
  const untilAnswered = async (): Promise<Asked> => {
    for (let times = 1; ; times++) {
      const answer = await send();
      // A client that never gets a final answer counts as wrongly answered.
      if (!isPassing(answer) || times === 300) return answer;
      // No server runs the attempt any more, so it is expired here. Otherwise the client would wait for that.
      if (answer.status === 409)
        await truth.asOwner([
          `update idempotency_keys set attempted_at = to_timestamp(0) where status is null and key like '%:${key}'`,
        ]);
    }
  };
  if (key === undefined) return send();
  const first = await untilAnswered();
  const second = await untilAnswered();
  const isSame = first.status === second.status && JSON.stringify(first.body) === JSON.stringify(second.body);
  return isSame ? first : { ...first, status: 599 };
}

async function enrol({ api: { engine, account }, truth, key }: Scene, name: string): Promise<Said> {
  const tunnelKey = randomBytes(32).toString('base64');
  const state = await engine.snapshots.current(account);
  const { revision } = state;
  const hash = String(state.get(key)?.derived['key_hash']);
  const request = {
    ...{ account, name, hostname: name, tunnelKey, signingKey: randomBytes(32).toString('base64url') },
    authorizer: { way: 'setup_key', id: key, hash, revision } as const,
    ...{ extraLabels: [], location: {} },
  };
  const said = await enrolPeer(engine, request).then(
    ({ peer }) => ({ status: 200, isUnknown: false, body: { id: peer.id } }),
    (error: unknown) => ({
      status: error instanceof Unavailable ? 503 : 500,
      isUnknown: error instanceof Unavailable && error.inDoubt,
      body: { message: String(error) },
    }),
  );
  const text = `select id from objects where kind = 'Peer' and spec ->> 'wg_pub_key' = $1`;
  const holds = async (isDone: boolean) => {
    const rows = await truth.lookUp(statement<{ readonly id: string }>(text, [tunnelKey]));
    return isDone ? rows.length === 1 && 'id' in said.body && rows[0]?.id === said.body.id : rows.length === 0;
  };
  return { shape: 'enrolment', name, ...said, holds };
}

/** Compares every answer with the database at the end. Returns the wrong answers. */
async function compare(said: readonly Said[]): Promise<readonly string[]> {
  const wrong: string[] = [];
  for (const { shape, name, status, isUnknown, body, holds } of said) {
    if (isUnknown) continue;
    const isDone = status < 300;
    const isHonest = isDone || status === 503;
    if (isHonest && (await holds(isDone))) continue;
    wrong.push(`${shape} ${name}: ${status} ${JSON.stringify(body).slice(0, 300)}`);
  }
  return wrong;
}

async function count({ truth }: Scene, text: string, ...parameters: readonly unknown[]): Promise<number> {
  const [row] = await truth.lookUp(statement<{ readonly found: number }>(text, parameters));
  return row?.found ?? 0;
}

/**
 * Returns the number of objects of a kind with a name. When the answer contained an id, only the object with that id
 * counts.
 */
async function rowsOf(scene: Scene, kind: string, name: string, id?: unknown): Promise<number> {
  const all = await count(scene, 'select count(*) as found from objects where kind = $1 and name = $2', kind, name);
  if (id === undefined || all !== 1) return all;
  return count(scene, 'select count(*) as found from objects where id = $1 and name = $2', String(id), name);
}

function entriesOf(scene: Scene, hash: string): Promise<number> {
  return count(scene, 'select count(*) as found from directory where value = $1', hash);
}

function tokensOf(scene: Scene, name: string): Promise<number> {
  return count(scene, 'select count(*) as found from tokens where name = $1', name);
}

function plansOf(scene: Scene, source: string, id?: unknown): Promise<number> {
  const text = 'select count(*) as found from plans where source_id = $1 and ($2::text is null or id = $2)';
  return count(scene, text, source, id ?? null);
}

/** Expects revisions without a gap, and a server whose snapshot equals the database. */
async function expectOneHistory({ api: { engine, account }, truth }: Scene): Promise<void> {
  const [row] = await truth.lookUp(
    statement<{ readonly count: number; readonly newest: number; readonly head: number }>(
      `select count(*) as count, max(r.revision) as newest, a.revision as head
       from accounts a join revisions r on r.account_id = a.account_id where a.account_id = $1 group by a.revision`,
      [account],
    ),
  );
  expect(row).toEqual({ count: row?.head, newest: row?.head, head: row?.head });
  const stored = await loadSnapshot(truth, engine.registry, account);
  expect(objectsOf(await engine.snapshots.fresh(account))).toEqual(stored && objectsOf(stored));
}

/** Wraps a database and counts the calls that end in doubt. */
function countDoubts(inner: Database): { readonly database: Database; doubts(): number } {
  let doubts = 0;
  const counting = <Args extends unknown[], Value>(method: (...args: Args) => Promise<Value>) => {
    return (...args: Args): Promise<Value> =>
      method.apply(inner, args).catch((error: unknown) => {
        if (error instanceof Unavailable && error.inDoubt) doubts += 1;
        throw error;
      });
  };
  const database: Database = {
    engine: inner.engine,
    inAccount: counting(inner.inAccount) as Database['inAccount'],
    withAccountLock: counting(inner.withAccountLock) as Database['withAccountLock'],
    asOwner: counting(inner.asOwner),
    lookUp: (query) => inner.lookUp(query),
    countWrittenRows: (rows) => inner.countWrittenRows(rows),
    ping: () => inner.ping(),
    close: () => inner.close(),
  };
  return { database, doubts: () => doubts };
}
