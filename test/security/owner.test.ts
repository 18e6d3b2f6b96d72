import { randomBytes } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { environmentOfKeys } from '../../src/app/engine.ts';
import { findEntry } from '../../src/db/accounts/directory.ts';
import { insertToken } from '../../src/db/accounts/tokens.ts';
import { writeArchive } from '../../src/db/archive/format.ts';
import { compressArchive } from '../../src/db/archive/lines.ts';
import { createAccountFor } from '../../src/features/accounts/join.ts';
import { hashToken } from '../../src/features/auth/authenticate.ts';
import { checkPassword } from '../../src/features/auth/password-sign-in.ts';
import { createSignInLimits } from '../../src/features/auth/sign-in-limits.ts';
import { backUp } from '../../src/features/config/archive/backup.ts';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import { makeToken } from '../../src/lib/token.ts';
import { createValuePolicy } from '../../src/model/schema/value-policy.ts';
import { type Answer, apiOn, type TestApi } from '../api/setup.ts';
import { rowsOf } from '../commit/office.ts';
import { type TestDatabase, testDatabase } from '../setup/database.ts';
import { putObjects } from '../setup/objects.ts';
import { withoutAccountFilter } from '../setup/without-account-filter.ts';

// Mallory and Vera each own an account on a server that another person operates.

const keys = environmentOfKeys([randomBytes(32)]);
let operator: string | undefined;
const server = {
  ...keys,
  edition: 'hosted',
  mayUse: createValuePolicy({ grants: [], shareValues: true, operatorAccount: () => operator }).mayUse,
  valueFrom: (origin: string, name: string) => (name === 'HEDDLE_VALUE_SERVER' ? `secret of ${origin}` : undefined),
} as const;

let made: TestDatabase;
let api: TestApi;
let mallory: Person;
let vera: Person;

interface Person {
  readonly account: string;
  readonly user: string;
  readonly token: string;
}

beforeAll(async () => {
  made = await testDatabase('postgres');
  api = await apiOn(made.database, () => made[Symbol.asyncDispose](), server);
  operator = api.account;
  mallory = await ownerOf('mallory.example', 41);
  vera = await ownerOf('vera.example', 42);
  const named = { name: 'veras-secret-group', peers: [] };
  expect((await ask(vera, 'POST', '/api/groups', named)).status).toBe(200);
});
afterAll(() => api[Symbol.asyncDispose]());

/** Creates a person who was the first of an organisation to sign in, and so owns an account. */
async function ownerOf(domain: string, byte: number): Promise<Person> {
  const { engine } = api;
  const person = { issuer: 'https://id.example.com', subject: domain, email: `owner@${domain}`, emailVerified: true };
  await createAccountFor(engine, { ...person, name: domain }, domain);
  const account = (await findEntry(engine.database, 'domain', domain)) ?? '';
  const user = (await engine.snapshots.fresh(account)).ofKind('User')[0]?.id ?? '';
  const token = makeToken('nbp_', new Uint8Array(32).fill(byte));
  const who = { account, id: engine.newId(), user, createdBy: user, name: 'test', createdAt: engine.now() };
  await insertToken(engine.database, { ...who, hash: hashToken(token), expiresAt: '2999-01-01T00:00:00Z' });
  return { account, user, token };
}

const ask = (who: Person, method: string, url: string, body?: Json) =>
  api.call(method, url, body, { authorization: `Token ${who.token}` });

async function send(who: Person, archive: Buffer, query = `?replace=${who.account}`) {
  const answer = await api.app.inject({
    method: 'POST',
    url: `/api/config/restore${query}`,
    headers: { authorization: `Token ${who.token}`, 'content-type': 'application/gzip' },
    payload: archive,
  });
  return { status: answer.statusCode, message: String(answer.json().message ?? '') };
}

/** Returns the rows that decide who may sign in and with which permissions. No request of an owner may change them. */
async function standing(): Promise<string> {
  const tables = ['accounts', 'tokens', 'credentials', 'identities', 'invites', 'directory', 'operator'];
  const found = [];
  for (const table of tables)
    found.push(
      await rowsOf(
        made.database,
        `select to_jsonb(t) - 'last_used' - 'revision' - 'audit_sequence' - 'sequences' as row from ${table} t order by 1`,
      ),
    );
  return JSON.stringify(found);
}

async function archiveOf(account: string): Promise<Buffer> {
  const { stream } = await backUp(api.engine, account, { history: true, program: 'test' });
  return Buffer.concat(await stream.toArray());
}

/** Returns an archive of Mallory's account with rows that she changed, signed as only the server can sign it. */
async function signedByServer(change: (section: string, rows: readonly JsonObject[]) => readonly JsonObject[]) {
  const lines = gunzipSync(await archiveOf(mallory.account))
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const [header] = lines;
  const sections = new Map<string, JsonObject[]>();
  let name = '';
  for (const line of lines.slice(1, -1)) {
    if (line.section !== undefined && Object.keys(line).length === 1) {
      name = line.section;
      sections.set(name, []);
    } else if (line.end !== name) sections.get(name)?.push(line);
  }
  const parts = [...sections].map(([section, rows]) => ({
    name: section as 'objects',
    async *pages() {
      yield change(section, rows);
    },
  }));
  return Buffer.concat(await compressArchive(writeArchive(header, parts, keys.archiveSigner)).toArray());
}

describe('an owner', () => {
  it('restores only objects of the own account, from archives that the server signed', async () => {
    const before = await standing();
    const foreign = await archiveOf(vera.account);
    for (const query of ['', `?replace=${vera.account}`, `?replace=${mallory.account}`])
      expect(await send(mallory, foreign, query)).toMatchObject({ status: 409 });
    const unexpected = environmentOfKeys([randomBytes(32)]).archiveSigner;
    const engine = { ...api.engine, planEnvironment: { ...api.engine.planEnvironment, archiveSigner: unexpected } };
    const { stream } = await backUp(engine, mallory.account, { history: true, program: 'test' });
    const forged = Buffer.concat(await stream.toArray());
    expect(await send(mallory, forged)).toMatchObject({ status: 422, message: expect.stringContaining('signed') });
    expect(await standing()).toBe(before);
  });

  it('cannot add identities or directory entries by a signed archive: only objects are restored', async () => {
    const before = await standing();
    const stolen = { kind: 'identity', value: 'https://id.example.com vera.example', subject_id: mallory.user };
    const archive = await signedByServer((section, rows) => {
      if (section === 'account') return rows.map((row) => ({ ...row, created_at: '2001-01-01T00:00:00Z' }));
      if (section === 'directory') return [...rows, stolen, { ...stolen, kind: 'domain', value: 'vera.example' }];
      if (section === 'identities')
        return [...rows, { ...rows[0], subject: 'vera.example', user_id: vera.user } as JsonObject];
      return rows;
    });
    expect(await send(mallory, archive)).toMatchObject({ status: 200 });
    expect(await standing()).toBe(before);
  });

  it('cannot change derived values of objects by a signed archive', async () => {
    const archive = await signedByServer((section, rows) =>
      section === 'objects'
        ? rows.map((row) =>
            row['kind'] === 'Account'
              ? { ...row, updatedRevision: 0, derived: { domain: 'vera.example', msp: vera.account } }
              : row,
          )
        : rows,
    );
    const before = (await api.engine.snapshots.fresh(mallory.account)).get(mallory.account)?.derived;
    expect(await send(mallory, archive)).toMatchObject({ status: 200 });
    expect((await api.engine.snapshots.fresh(mallory.account)).get(mallory.account)?.derived).toEqual(before);
  });

  it.each([
    ['GET', '/metrics'],
    ['POST', '/api/config/secrets/rotate'],
    ['POST', '/api/config/idp/rotate'],
  ])('is refused %s %s, which is reserved for the operator', async (method, url) => {
    const answer = await ask(mallory, method, url, method === 'GET' ? undefined : {});
    expect(answer.status).toBe(403);
    expect((await api.call(method, url, method === 'GET' ? undefined : {})).status).toBe(403);
  });

  it('cannot set up a server', async () => {
    const person = { email: 'mallory@example.com', name: 'Mallory', password: 'correct horse' };
    expect((await ask(mallory, 'POST', '/api/setup', person)).status).toBe(412);
  });

  it.each(['export', 'backup', 'revisions', 'objects', 'status', 'plans'])(
    'cannot read the %s of another account',
    async (what) => {
      expect((await ask(mallory, 'GET', `/api/config/${what}?account=${vera.account}`)).status).toBe(403);
    },
  );

  it('cannot read directories or environment variables of the server by sources', async () => {
    const directory = { name: 'disk', type: 'directory', path: '/etc' };
    expect((await ask(mallory, 'POST', '/api/config/sources', directory)).status).toBe(422);
    const channel = { apiVersion: 'heddle.dev/v1', kind: 'NotificationChannel', metadata: { name: 'thief' } };
    const headers = { Authorization: { valueFrom: { envRef: 'HEDDLE_VALUE_SERVER' } } };
    const target = { url: 'https://mallory.example/hook', headers };
    const spec = { type: 'webhook', target, event_types: ['user.join'], enabled: true };
    const files = [{ path: 'a.json', text: JSON.stringify({ ...channel, spec }) }];
    const answer = await ask(mallory, 'POST', '/api/config/apply', { source: 'mine', files });
    expect(answer.status).toBe(422);
    expect(JSON.stringify(answer.body)).not.toContain('secret of');
  });

  it('may use an email address of another account, and does not learn that it is in use', async () => {
    const person = (email: string) => ({ name: 'Zoe', email, role: 'user', auto_groups: [], is_service_user: false });
    const signIn = (password: string) =>
      checkPassword(api.engine, createSignInLimits(), { address: 'a', person: 'zoe@example.com', password });
    const there = await ask(vera, 'POST', '/api/users', person('zoe@example.com'));
    const taken = await ask(mallory, 'POST', '/api/users', person('zoe@example.com'));
    const free = await ask(mallory, 'POST', '/api/users', person('free@example.com'));
    const reported = ({ status, headers, body }: Answer) => [status, headers['heddle-notice'], Object.keys(body)];
    expect(reported(taken)).toEqual(reported(free));
    for (const { account, password } of [
      { account: vera.account, password: there.body.password },
      { account: mallory.account, password: taken.body.password },
    ])
      expect(await signIn(password)).toMatchObject({ result: 'right', matches: [{ credentials: { account } }] });
    const archive = gunzipSync(await archiveOf(mallory.account)).toString();
    expect(archive.split('zoe@example.com')).toHaveLength(archive.split('free@example.com').length);
  });

  it('may invite an email address that another account invites, and gets the same answers', async () => {
    const invite = (email: string) => ({ name: 'Yan', email, role: 'user', auto_groups: [] });
    const accept = (token: string, password: string) =>
      api.call('POST', `/api/users/invites/${token}/accept`, { password }, { authorization: '' });
    const invited = [];
    for (const who of [mallory, vera])
      invited.push(await ask(who, 'POST', '/api/users/invites', invite('yan@example.com')));
    expect(invited.map(({ status }) => status)).toEqual([200, 200]);
    for (const [at, { body }] of invited.entries())
      expect((await accept(body.invite_token, `correct horse ${at}`)).status).toBe(200);
    const attempt = { address: 'a', person: 'yan@example.com', password: 'correct horse 1' };
    expect(await checkPassword(api.engine, createSignInLimits(), attempt)).toMatchObject({
      matches: [{ credentials: { account: vera.account } }],
    });
  });

  it('cannot appoint an owner in an account that is not its tenant, even if its own account marks it as one', async () => {
    const tenants = '/api/integrations/msp/tenants';
    const claim = { name: 'Vera', domain: 'vera.example', groups: [] };
    expect((await ask(mallory, 'POST', tenants, claim)).body.status).toBe('existing');
    await putObjects(api.engine, mallory.account, (state) => {
      const tenant = state.get(vera.account);
      return tenant === undefined ? [] : [{ ...tenant, derived: { ...tenant.derived, status: 'active' } }];
    });
    const unlink = await ask(mallory, 'POST', `${tenants}/${vera.account}/unlink`, { owner: vera.user });
    expect(unlink.status).toBe(412);
    expect((await ask(mallory, 'GET', `/api/groups?account=${vera.account}`)).status).toBe(403);
    expect((await ask(mallory, 'DELETE', `/api/accounts/${vera.account}`)).status).toBe(404);
  });
});

describe('row-level security', () => {
  it('keeps exports and backups within the account even if statements lack the account condition', async () => {
    let without = 0;
    const loose = await apiOn(
      withoutAccountFilter(made.database, () => {
        without++;
      }),
      async () => {},
      server,
    );
    for (const url of ['/api/config/export', '/api/config/backup', '/api/config/revisions', '/api/config/objects']) {
      const { statusCode, rawPayload } = await loose.app.inject({
        method: 'GET',
        url,
        headers: { authorization: `Token ${mallory.token}` },
      });
      const text = url.endsWith('backup') ? gunzipSync(rawPayload).toString() : rawPayload.toString();
      expect([url, statusCode]).toEqual([url, 200]);
      for (const mark of ['veras-secret-group', vera.user]) expect(text).not.toContain(mark);
    }
    expect(without).toBeGreaterThan(5);
    await loose[Symbol.asyncDispose]();
  });

  it('prevents statements of one account from using rows of another account or of the server', async () => {
    const run = (sql: string) => made.database.inAccount(mallory.account, [{ sql, parameters: [] } as never]);
    const seen = await run(`select count(*)::int as count from tokens where account_id = '${vera.account}'`);
    expect(seen).toEqual([[{ count: 0 }]]);
    await expect(
      run(`insert into identities (account_id, issuer, subject, user_id, created_at)
        values ('${vera.account}', 'https://evil.example', 'mallory', '${vera.user}', now())`),
    ).rejects.toThrow('row-level security');
    for (const sql of [
      'select * from operator',
      `update operator set account = '${mallory.account}'`,
      `insert into operator (account) values ('${mallory.account}')`,
    ])
      await expect(run(sql)).rejects.toThrow('permission denied');
  });
});
