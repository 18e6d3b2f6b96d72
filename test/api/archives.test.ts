import { createHash, randomBytes } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { environmentOfKeys } from '../../src/app/engine.ts';
import { operatorAccountOf } from '../../src/commit/operator.ts';
import { findEntry } from '../../src/db/accounts/directory.ts';
import { sectionNames } from '../../src/db/archive/format.ts';
import { keyBytes } from '../../src/db/sealing/derive-key.ts';
import { createVault } from '../../src/db/sealing/vault.ts';
import { bindCredential, findCredentialHosts } from '../../src/db/sources/credential-hosts.ts';
import { listFormerGitHosts } from '../../src/db/sources/former-git-hosts.ts';
import { type AccountRestoreOptions, restoreWholeAccount } from '../../src/features/config/archive/restore-account.ts';
import { compactHistory } from '../../src/features/config/history/retention.ts';
import { canonicalJson, type JsonObject } from '../../src/lib/json.ts';
import { Conflict, InvalidInput } from '../../src/model/errors.ts';
import { secretsOf } from '../../src/model/schema/secret-fields.ts';
import { rowsOf } from '../commit/office.ts';
import { objectsOf } from '../plan/invariants.ts';
import { openedSpec } from '../setup/opened.ts';
import { doc } from './documents.ts';
import { type TestApi, testApi, token } from './setup.ts';

const key = randomBytes(keyBytes);
const keys = environmentOfKeys([key]);
const { vault } = keys;

/** Applies documents of a source. */
const apply = (api: TestApi, source: string, text: string) =>
  api.call('POST', '/api/config/apply', { source, files: [{ path: 'a.yaml', text }] });

const documents = [
  doc('Group', 'developers', 'name: Developers\npeers: [laptop]'),
  doc('Group', 'ops', 'name: ops'),
  doc('Policy', 'web', 'rules: [{name: r, action: accept, protocol: all, sources: [developers], destinations: [ops]}]'),
  doc('SetupKey', 'ci', 'name: CI\ntype: reusable\nexpires_in: 86400\nauto_groups: [ops]'),
].join('---\n');

/** An account with sources, things made by hand, a secret, tokens and a history. */
async function furnished(): Promise<TestApi> {
  const api = await testApi('postgres', keys);
  const [peer = ''] = await api.peers('laptop', 'gate');
  await api.group('by hand', [peer]);
  expect((await apply(api, 'team', documents)).status).toBe(200);
  const spec = { ...api.engine.registry.get('EdrVendorD').example, groups: ['ops'] };
  const text = JSON.stringify({ apiVersion: 'heddle.dev/v1', kind: 'EdrVendorD', metadata: { name: 'edr' }, spec });
  const values = { 'env:HEDDLE_VALUE_EDR_D_CLIENT': 'hunter2', 'env:HEDDLE_VALUE_EDR_D_SECRET': 'hunter3' };
  const files = [{ path: 'edr.json', text }];
  expect((await api.call('POST', '/api/config/apply', { source: 'security', files, values })).status).toBe(200);
  await api.call('POST', '/api/integrations/scim-idp', { provider: 'generic', prefix: 'staff' });
  const passing = await api.group('passing');
  await api.call('DELETE', `/api/groups/${passing}`);
  return api;
}

/** Takes an archive. */
async function backUp(api: TestApi, query = ''): Promise<Buffer> {
  const answer = await api.app.inject({
    method: 'GET',
    url: `/api/config/backup${query}`,
    headers: { authorization: `Token ${token}` },
  });
  const { 'content-type': type, 'cache-control': caching } = answer.headers;
  expect([answer.statusCode, type, caching]).toEqual([200, 'application/gzip', 'no-store']);
  return answer.rawPayload;
}

/** Puts an archive in place as the operator. */
async function restore(
  api: TestApi,
  archive: Buffer,
  options: AccountRestoreOptions = {},
): Promise<{ status: number; body: JsonObject }> {
  try {
    return { status: 200, body: { ...(await restoreWholeAccount(api.engine, archive, options)) } };
  } catch (error) {
    if (error instanceof InvalidInput || error instanceof Conflict)
      return { status: error instanceof InvalidInput ? 422 : 409, body: { message: error.message } };
    throw error;
  }
}

/** Sends an archive as an owner, who gets the objects of the account back. */
async function sendBack(api: TestApi, archive: Buffer, query = ''): Promise<{ status: number; body: JsonObject }> {
  const answer = await api.app.inject({
    method: 'POST',
    url: `/api/config/restore${query}`,
    headers: { authorization: `Token ${token}`, 'content-type': 'application/gzip' },
    payload: archive,
  });
  return { status: answer.statusCode, body: answer.json() };
}

/** Everything that is written anywhere, to see that nothing was. */
async function everything(api: TestApi): Promise<string> {
  const tables = ['accounts', 'objects', 'object_refs', 'revisions', 'changes', 'tokens', 'directory', 'audit_events'];
  const found = [];
  for (const table of tables)
    found.push(
      await rowsOf(
        api.engine.database,
        `select to_jsonb(t) - 'last_used' as row from ${table} t order by (to_jsonb(t) - 'last_used')::text`,
      ),
    );
  return JSON.stringify(found);
}

const exported = async (api: TestApi) => (await api.call('GET', '/api/config/export')).body;
/** The codes of the audit log, in order. */
async function codes(api: TestApi): Promise<readonly unknown[]> {
  const rows = await rowsOf(api.engine.database, 'select activity_code as code from audit_events order by id');
  return rows.map(({ code }) => code);
}
const linesOf = (archive: Buffer) => gunzipSync(archive).toString().trimEnd().split('\n');
const packed = (lines: readonly string[]) => gzipSync(`${lines.join('\n')}\n`);

describe('an account that was backed up', () => {
  it('is the same on a fresh server: documents, ids, history, numbers, tokens; and its sources have nothing to do', async () => {
    await using api = await furnished();
    const archive = await backUp(api);
    const before = objectsOf(await api.engine.snapshots.fresh(api.account));
    const revision = await api.revision();
    await using other = await testApi('postgres', keys);
    const answer = await restore(other, archive);
    expect(answer).toMatchObject({
      status: 200,
      body: { account: api.account, restored: revision, revision: revision + 1, history: true },
    });
    expect(await exported(other)).toBe(await exported(api));
    expect(objectsOf(await other.engine.snapshots.fresh(api.account))).toEqual(before);
    // The token of the fresh server still works, now for the restored account.
    expect((await other.call('GET', '/api/accounts')).body[0].id).toBe(
      (await api.call('GET', '/api/accounts')).body[0].id,
    );
    expect((await apply(other, 'team', documents)).body).toMatchObject({ revision: null, plan: { changes: [] } });
    const revisions = (await other.call('GET', '/api/config/revisions')).body;
    expect(revisions[0]).toMatchObject({ revision: revision + 1, restored: revision });
    const { body: had } = await api.call('GET', `/api/config/revisions/${revision}`);
    expect((await other.call('GET', `/api/config/revisions/${revision}`)).body).toEqual(had);
    const then = `/api/config/export?revision=${revision - 3}`;
    expect((await other.call('GET', then)).body).toBe((await api.call('GET', then)).body);
    expect(await codes(other)).toEqual([...(await codes(api)), 'config.restored']);
    // Numbers go on where they were.
    const made = { name: 'next', type: 'reusable', expires_in: 86400, auto_groups: [], usage_limit: 0 };
    const next = (await other.call('POST', '/api/setup-keys', made)).body;
    expect(next.id).toBe((await api.call('POST', '/api/setup-keys', made)).body.id);
    const accounts = await rowsOf(other.engine.database, 'select account_id from accounts');
    expect(accounts).toEqual([{ account_id: api.account }]);
  });

  it('moves between the embedded database and a Postgres of its own', async () => {
    await using api = await furnished();
    await using embedded = await testApi('embedded', keys);
    expect((await restore(embedded, await backUp(api))).status).toBe(200);
    expect(await exported(embedded)).toBe(await exported(api));
    await using again = await testApi('postgres', keys);
    expect((await restore(again, await backUp(embedded))).status).toBe(200);
    expect(await exported(again)).toBe(await exported(api));
    expect(await again.revision()).toBe((await api.revision()) + 2);
  });

  it('has no history when none was asked for, and goes on from there', async () => {
    await using api = await furnished();
    const archive = await backUp(api, '?history=false');
    const revision = await api.revision();
    await using other = await testApi('postgres', keys);
    expect((await restore(other, archive)).body).toMatchObject({ history: false });
    expect(await exported(other)).toBe(await exported(api));
    expect((await other.call('GET', `/api/config/revisions/${revision}`)).status).toBe(410);
    expect((await other.call('GET', `/api/config/export?revision=${revision}`)).body).toBe(await exported(api));
    expect((await other.call('GET', `/api/config/export?revision=${revision - 1}`)).status).toBe(410);
  });

  it('is one revision, whatever is written meanwhile, and after its history was folded', async () => {
    await using api = await furnished();
    await compactHistory(api.engine, { revisions: 3, days: 0 });
    const writing = (async () => {
      for (let at = 0; at < 30; at += 1) await api.group(`meanwhile ${at}`);
    })();
    const archives = [await backUp(api), await backUp(api)];
    await writing;
    for (const archive of archives) {
      const { revision } = JSON.parse(linesOf(archive)[0] ?? '');
      await using other = await testApi('postgres', keys);
      expect((await restore(other, archive)).status).toBe(200);
      const then = await api.engine.past.at(api.account, revision);
      expect(objectsOf(await other.engine.snapshots.fresh(api.account))).toEqual(objectsOf(then));
    }
  });

  it('can be restored in its own place by naming it, and later changes are gone', async () => {
    await using api = await furnished();
    const documentsThen = await exported(api);
    const archive = await backUp(api);
    const then = await api.revision();
    await api.group('later');
    await apply(api, 'team', doc('Group', 'only-this', 'name: only-this'));
    const now = await api.revision();
    const refused = await restore(api, archive);
    expect(refused).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining(`--replace ${api.account}`) },
    });
    expect((await restore(api, archive, { replace: 'other' })).status).toBe(422);
    const answer = await restore(api, archive, { replace: api.account });
    expect(answer).toMatchObject({ status: 200, body: { restored: then, revision: now + 1 } });
    expect(await exported(api)).toBe(documentsThen);
    // What happened stays in the audit log, and numbers are never given twice.
    const happened = await codes(api);
    expect(happened).toContain('setupkey.delete');
    expect(happened.at(-1)).toBe('config.restored');
    expect((await api.call('GET', `/api/config/export?revision=${then}`)).body).toBe(documentsThen);
    expect((await api.group('again')).length).toBeGreaterThan(0);
  });

  it.each([
    ['was used', 'own'],
    ['was made and never used', 'unused'],
  ])('that %s keeps what limits its sources: to which hosts files are shown, and former hosts', async (_, which) => {
    await using api = await testApi('postgres', keys);
    if (which === 'own') await api.group('used');
    const archive = await backUp(api);
    const { account, engine } = api;
    await bindCredential(engine.database, { account, file: 'deploy-key', host: 'git.example.com' });
    await engine.database.asOwner([
      `insert into former_git_hosts (account_id, host) values ('${account}', '10.0.0.7')`,
    ]);
    expect((await restore(api, archive, { replace: account })).status).toBe(200);
    await bindCredential(engine.database, { account, file: 'deploy-key', host: 'elsewhere.example.com' });
    expect(await findCredentialHosts(engine.database, account, 'deploy-key')).toEqual(['git.example.com']);
    expect(await listFormerGitHosts(engine.database, account)).toEqual(['10.0.0.7']);
  });

  it('is read anew by servers that had seen a later state', async () => {
    await using api = await furnished();
    const archive = await backUp(api);
    await api.group('later');
    const stale = await api.engine.snapshots.fresh(api.account);
    await restore(api, archive, { replace: api.account });
    api.engine.snapshots.advance(stale);
    const state = await api.engine.snapshots.fresh(api.account);
    expect(state.lookUp('Group', 'name', 'later')).toEqual([]);
  });
});

describe('secrets', () => {
  it('stay sealed in the archive, and want the key of the server that they are from', async () => {
    await using api = await furnished();
    const archive = await backUp(api);
    const text = gunzipSync(archive).toString();
    expect(text).not.toContain('hunter2');
    expect(text).toContain(`sealed:2:${vault.keyId}:`);
    const fresh = environmentOfKeys([randomBytes(keyBytes)]);
    await using strange = await testApi('postgres', fresh);
    const before = await everything(strange);
    const answer = await restore(strange, archive);
    expect([answer.status, answer.body['message']]).toEqual([422, expect.stringContaining(vault.keyId)]);
    expect(await everything(strange)).toBe(before);
  });

  it('are sealed again when the server has both keys', async () => {
    await using api = await furnished();
    const archive = await backUp(api);
    const own = randomBytes(keyBytes);
    await using other = await testApi('postgres', environmentOfKeys([own, key]));
    expect((await restore(other, archive)).status).toBe(200);
    const found = await everything(other);
    expect(found).not.toContain(vault.keyId);
    expect(found).toContain(`sealed:2:${createVault([own]).keyId}:`);
    expect(await exported(other)).toBe(await exported(api));
    expect(await openedSecrets(other, api.account)).toEqual(await openedSecrets(api, api.account));
  });
});

/** The secrets of all objects, opened. */
async function openedSecrets({ engine }: TestApi, account: string): Promise<readonly string[]> {
  const state = await engine.snapshots.fresh(account);
  const objects = [...state.objects()].sort((a, b) => (a.id < b.id ? -1 : 1));
  return objects.flatMap((object) => {
    const { spec } = engine.registry.get(object.kind);
    return secretsOf(spec, object.spec).length === 0 ? [] : [canonicalJson(openedSpec(engine, account, object))];
  });
}

describe('an archive that is not as it was written', () => {
  const spoiled: readonly (readonly [string, RegExp, (lines: string[]) => readonly string[] | Buffer])[] = [
    ['cut short', /cut short/, (lines) => packed(lines).subarray(0, -40)],
    ['without its end', /cut short/, (lines) => lines.slice(0, -1)],
    [
      'without a row',
      /checksum of its section objects/,
      (lines) => lines.filter((line) => !line.includes('"by hand"')),
    ],
    ['with a changed row', /checksum/, (lines) => lines.map((line) => line.replace('"by hand"', '"by foot"'))],
    ['with rows behind its end', /goes on behind its end/, (lines) => [...lines, '{}']],
    [
      'of a newer format',
      /newer Heddle/,
      ([head = '', ...rest]) => [head.replace('"formatVersion":1', '"formatVersion":2'), ...rest],
    ],
    ['that is none', /no archive of Heddle/, () => ['{"hello": "world"}']],
    ['that is no gzip', /no archive of Heddle/, () => Buffer.from('apiVersion: heddle.dev/v1')],
    ['with changed bytes', /damaged/, (lines) => flipped(packed(lines))],
  ];

  it.each(spoiled)('%s is refused, and nothing is written', async (_, message, spoil) => {
    await using api = await testApi('postgres', keys);
    await api.group('by hand');
    const archive = await backUp(api);
    await using other = await testApi('postgres', keys);
    const before = await everything(other);
    const made = spoil(linesOf(archive));
    const answer = await restore(other, Buffer.isBuffer(made) ? made : packed(made as readonly string[]));
    expect([answer.status, answer.body['message']]).toEqual([422, expect.stringMatching(message)]);
    expect(await everything(other)).toBe(before);
  });

  function flipped(bytes: Buffer): Buffer {
    const copy = Buffer.from(bytes);
    copy.writeUInt8(copy.readUInt8(copy.length >> 1) ^ 0xff, copy.length >> 1);
    return copy;
  }
});

describe('a server in use', () => {
  it('gets one more account, and keeps its own', async () => {
    await using api = await furnished();
    const archive = await backUp(api);
    await using other = await testApi('postgres', keys);
    await other.group('used');
    // Both servers have the token of all tests, and here one of them is enough.
    await rowsOf(other.engine.database, "delete from directory where kind = 'token' returning 1");
    const operator = await operatorAccountOf(other.engine);
    expect((await restore(other, archive)).status).toBe(200);
    const accounts = await rowsOf(other.engine.database, 'select account_id from accounts order by 1');
    expect(accounts.map(({ account_id: id }) => id)).toEqual([api.account, other.account].sort());
    expect(await operatorAccountOf(other.engine)).toBe(operator);
    expect(objectsOf(await other.engine.snapshots.fresh(api.account))).toEqual(
      objectsOf(await api.engine.snapshots.fresh(api.account)),
    );
  });

  it('keeps what others have: a token, an identity or a domain of the archive that leads elsewhere is refused', async () => {
    await using api = await testApi('postgres', keys);
    const archive = await backUp(api);
    await using other = await testApi('postgres', keys);
    await other.group('used');
    // Both have the token of all tests.
    const before = await everything(other);
    expect(await restore(other, archive)).toMatchObject({
      status: 409,
      body: {
        message: expect.stringContaining(
          'another account of this server has entries of the archive: an entry of the kind token;',
        ),
      },
    });
    expect(await everything(other)).toBe(before);
  });

  it('is shown which domain of the archive another account has, and no hash', async () => {
    await using api = await testApi('postgres', keys);
    await lead(api, 'domain', 'example.com');
    await lead(api, 'setup-key', 'hash-of-a-key');
    const archive = await backUp(api);
    await using other = await testApi('postgres', keys);
    await other.group('used');
    await lead(other, 'domain', 'example.com');
    await lead(other, 'setup-key', 'hash-of-a-key');
    const before = await everything(other);
    const { status, body } = await restore(other, archive);
    expect([status, body['message']]).toEqual([
      409,
      expect.stringContaining('the domain example.com, an entry of the kind setup-key, an entry of the kind token;'),
    ]);
    expect(body['message']).not.toContain('hash-of-a-key');
    expect(await everything(other)).toBe(before);
  });

  it('gets the account although another one took the address of one of its people', async () => {
    await using api = await testApi('postgres', keys);
    await lead(api, 'email', 'ada@example.com');
    const archive = await backUp(api);
    await using other = await testApi('postgres', keys);
    await other.group('used');
    await rowsOf(other.engine.database, "delete from directory where kind = 'token' returning 1");
    await lead(other, 'email', 'ada@example.com');
    expect((await restore(other, archive)).status).toBe(200);
    expect(await findEntry(other.engine.database, 'email', 'ada@example.com')).toBe(other.account);
  });

  /** Has a value of the directory lead to the account of a server. */
  const lead = ({ account, engine }: TestApi, kind: string, value: string) =>
    engine.database.asOwner([`insert into directory values ('${account}', '${kind}', '${value}', 'subject')`]);

  it("becomes the operator's account when it takes the place of the unused one", async () => {
    await using api = await furnished();
    await using other = await testApi('postgres', keys);
    expect((await restore(other, await backUp(api))).status).toBe(200);
    expect(await operatorAccountOf(other.engine)).toBe(api.account);
  });
});

describe('signatures', () => {
  /** The lines with other rows, and every checksum re-created as anybody can. */
  function forged(lines: readonly string[], change: (line: string) => string): Buffer {
    const whole = createHash('sha256');
    let section = createHash('sha256');
    const made = lines.map((line, at) => {
      const value = JSON.parse(line);
      const isLast = at === lines.length - 1;
      let text = change(line);
      if (value.section !== undefined) section = createHash('sha256');
      else if (isLast) text = JSON.stringify({ ...value, sha256: whole.digest('hex') });
      else if (value.end !== undefined) text = JSON.stringify({ ...value, sha256: section.digest('hex') });
      else section.update(`${text}\n`);
      if (!isLast) whole.update(`${text}\n`);
      return text;
    });
    return packed(made);
  }
  const older = (line: string) => line.replace(/"created_at":"[^"]*"/, '"created_at":"2001-01-01T00:00:00Z"');

  it('tell a changed archive, whatever its checksums say; neither owner nor operator gets it in', async () => {
    await using api = await furnished();
    const lines = linesOf(await backUp(api));
    const archive = forged(lines, older);
    expect(archive.equals(forged(lines, (line) => line))).toBe(false);
    const before = await everything(api);
    for (const answer of [
      await sendBack(api, archive, `?replace=${api.account}`),
      await restore(api, archive, { replace: api.account }),
      await restore(api, archive, { replace: api.account, acceptUnsigned: true }),
    ])
      expect(answer).toMatchObject({ status: 422, body: { message: expect.stringContaining('signature') } });
    expect(await everything(api)).toBe(before);
  });

  it.each([
    ['none', (end: JsonObject) => ({ ...end, signature: undefined, key: undefined }), /not signed/],
    ['one of a key that is not known', (end: JsonObject) => ({ ...end, key: 'ffffffffffff' }), /ffffffffffff/],
  ])('may be %s for an operator who says so', async (_, change, message) => {
    await using api = await furnished();
    const lines = linesOf(await backUp(api));
    const end = JSON.stringify(change(JSON.parse(lines.at(-1) ?? '')));
    const archive = packed([...lines.slice(0, -1), end]);
    for (const answer of [
      await sendBack(api, archive, `?replace=${api.account}`),
      await restore(api, archive, { replace: api.account }),
    ])
      expect(answer).toMatchObject({ status: 422, body: { message: expect.stringMatching(message) } });
    const accepted = await restore(api, archive, { replace: api.account, acceptUnsigned: true });
    expect(accepted.status).toBe(200);
  });
});

describe('an owner', () => {
  it('puts the objects of the account back, as one revision; the history goes on', async () => {
    await using api = await furnished();
    const documentsThen = await exported(api);
    const archive = await backUp(api);
    const then = await api.revision();
    await api.group('later');
    await apply(api, 'team', doc('Group', 'only-this', 'name: only-this'));
    const now = await api.revision();
    expect(await sendBack(api, archive)).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining(`--replace ${api.account}`) },
    });
    expect((await sendBack(api, archive, '?replace=other')).status).toBe(422);
    const answer = await sendBack(api, archive, `?replace=${api.account}`);
    expect(answer).toMatchObject({ status: 200, body: { account: api.account, restored: then, revision: now + 1 } });
    // A setup key that was deleted lets nobody in again, and everything else is what it was.
    const names = (text: string) => text.split('---\n').filter((one) => !one.includes('kind: SetupKey'));
    expect(names(await exported(api))).toEqual(names(documentsThen));
    expect((await api.call('GET', `/api/config/revisions/${now}`)).status).toBe(200);
    expect((await sendBack(api, archive, `?replace=${api.account}`)).body).toMatchObject({
      revision: now + 1,
      rows: 0,
    });
  });

  it('gets nothing but objects: people, tokens, identities, the directory and the time of the account stay', async () => {
    await using api = await furnished();
    const archive = await backUp(api);
    const kept = ['accounts', 'tokens', 'credentials', 'identities', 'invites', 'directory'] as const;
    const user = { email: 'ada@example.com', name: 'Ada', role: 'admin', auto_groups: [], is_service_user: false };
    await api.call('POST', '/api/users', user);
    const owner = (await api.call('GET', '/api/users/current')).body.id;
    await api.call('POST', `/api/users/${owner}/tokens`, { name: 'later', expires_in: 30 });
    const rows = async () =>
      Promise.all(
        kept.map((table) =>
          rowsOf(
            api.engine.database,
            `select to_jsonb(t) - 'last_used' - 'revision' - 'audit_sequence' as row from ${table} t order by 1`,
          ),
        ),
      );
    const before = await rows();
    expect((await sendBack(api, archive, `?replace=${api.account}`)).status).toBe(200);
    expect(await rows()).toEqual(before);
    const users = (await api.call('GET', '/api/users')).body;
    expect(users.map(({ email }: { email: string }) => email)).toContain('ada@example.com');
  });

  it('does not get another account in, not even on a server that was never used', async () => {
    await using api = await furnished();
    const archive = await backUp(api);
    await using other = await testApi('postgres', keys);
    const before = await everything(other);
    for (const query of ['', `?replace=${other.account}`, `?replace=${api.account}`]) {
      const answer = await sendBack(other, archive, query);
      expect([answer.status, answer.body['message']]).toEqual([
        409,
        expect.stringContaining('heddle operator restore'),
      ]);
    }
    expect(await everything(other)).toBe(before);
  });

  it('sends no more than other configuration may have, in one request at a time, and each counts as a plan', async () => {
    await using api = await testApi('postgres', { planRateLimit: { perMinute: 1, burst: 5 } });
    const large = await sendBack(api, Buffer.alloc(64 * 1024 * 1024 + 1));
    expect(large.status).toBe(413);
    const archive = await backUp(api);
    const query = `?replace=${api.account}`;
    const answers = await Promise.all([sendBack(api, archive, query), sendBack(api, archive, query)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 429]);
    expect(answers.map(({ body }) => body['message'])).toContainEqual(
      expect.stringContaining('a restore of this account is under way'),
    );
    // A refused one and one that failed hold up no other.
    expect((await sendBack(api, Buffer.from('none'))).status).toBe(422);
    expect((await sendBack(api, archive, query)).status).toBe(200);
    const many = await sendBack(api, archive, query);
    expect([many.status, many.body['message']]).toEqual([429, expect.stringContaining('too many plans')]);
  });

  it('sends a compressed body', async () => {
    await using api = await testApi();
    const answer = await api.call('POST', '/api/config/restore', { hello: 'world' });
    expect(answer.status).toBe(422);
  });
});

it('every table of an account is in the archive, or there is a reason why not', async () => {
  await using api = await testApi();
  const found = await rowsOf(
    api.engine.database,
    `select distinct table_name as name from information_schema.columns
     where column_name = 'account_id' and table_schema = current_schema() order by 1`,
  );
  const leftOut = {
    accounts: 'the section `account`',
    object_keys: 'follow from objects',
    object_refs: 'part of objects',
    declared: 'part of objects',
    history_base: 'the header says where the history begins',
    leases: 'which server runs what',
    former_git_hosts: 'which hosts the first releases named',
    credential_hosts: 'where files of this server are shown',
    plans: 'are of one day, and of the state they were made on',
    idempotency_keys: 'answers of one day',
    feed_batches: 'which reports arrived lately',
    feed_hours: 'counts of the logs',
    feed_values: 'names in the logs',
    proxy_log: 'is a log',
    traffic_log: 'is a log',
    peer_status: 'which peers are connected',
    agent_nonces: 'are of minutes',
    proxies: 'which proxies are connected',
    proxy_tokens: 'proxies are let in anew, by tokens of the new server',
    service_status: 'proxies report it anew',
  };
  const sections = sectionNames.filter((name) => name !== 'account');
  expect(found.map(({ name }) => name)).toEqual([...Object.keys(leftOut), ...sections].sort());
});
