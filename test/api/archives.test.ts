import { randomBytes } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { compactHistory } from '../../src/engine/retention.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { sectionNames } from '../../src/store/archive-format.ts';
import { keyBytes } from '../../src/store/derive-key.ts';
import { createVault } from '../../src/store/vault.ts';
import { rowsOf } from '../engine/office.ts';
import { objectsOf } from '../plan/invariants.ts';
import { doc } from './documents.ts';
import { type TestApi, testApi, token } from './setup.ts';

const key = randomBytes(keyBytes);
const vault = createVault([key]);

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
  const api = await testApi('postgres', { vault });
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
  expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'application/gzip']);
  return answer.rawPayload;
}

/** Puts an archive in place. */
async function restore(api: TestApi, archive: Buffer, query = ''): Promise<{ status: number; body: JsonObject }> {
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
    await using other = await testApi('postgres', { vault });
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
    await using embedded = await testApi('embedded', { vault });
    expect((await restore(embedded, await backUp(api))).status).toBe(200);
    expect(await exported(embedded)).toBe(await exported(api));
    await using again = await testApi('postgres', { vault });
    expect((await restore(again, await backUp(embedded))).status).toBe(200);
    expect(await exported(again)).toBe(await exported(api));
    expect(await again.revision()).toBe((await api.revision()) + 2);
  });

  it('has no history when none was asked for, and goes on from there', async () => {
    await using api = await furnished();
    const archive = await backUp(api, '?history=false');
    const revision = await api.revision();
    await using other = await testApi('postgres', { vault });
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
      await using other = await testApi('postgres', { vault });
      expect((await restore(other, archive)).status).toBe(200);
      const then = await api.engine.past.at(api.account, revision);
      expect(objectsOf(await other.engine.snapshots.fresh(api.account))).toEqual(objectsOf(then));
    }
  });

  it('can be put back in its own place by whoever says its name, and what came after is gone', async () => {
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
    expect((await restore(api, archive, '?replace=other')).status).toBe(422);
    const answer = await restore(api, archive, `?replace=${api.account}`);
    expect(answer).toMatchObject({ status: 200, body: { restored: then, revision: now + 1 } });
    expect(await exported(api)).toBe(documentsThen);
    // What happened stays in the audit log, and numbers are never given twice.
    const happened = await codes(api);
    expect(happened).toContain('setupkey.delete');
    expect(happened.at(-1)).toBe('config.restored');
    expect((await api.call('GET', `/api/config/export?revision=${then}`)).body).toBe(documentsThen);
    expect((await api.group('again')).length).toBeGreaterThan(0);
  });

  it('is read anew by servers that had seen a later state', async () => {
    await using api = await furnished();
    const archive = await backUp(api);
    await api.group('later');
    const stale = await api.engine.snapshots.fresh(api.account);
    await restore(api, archive, `?replace=${api.account}`);
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
    expect(text).toContain(`sealed:${vault.keyId}:`);
    const fresh = createVault([randomBytes(keyBytes)]);
    await using strange = await testApi('postgres', { vault: fresh });
    const before = await everything(strange);
    const answer = await restore(strange, archive);
    expect([answer.status, answer.body['message']]).toEqual([422, expect.stringContaining(vault.keyId)]);
    expect(await everything(strange)).toBe(before);
  });

  it('are sealed again when the server has both keys', async () => {
    await using api = await furnished();
    const archive = await backUp(api);
    const own = randomBytes(keyBytes);
    await using other = await testApi('postgres', { vault: createVault([own, key]) });
    expect((await restore(other, archive)).status).toBe(200);
    const found = await everything(other);
    expect(found).not.toContain(vault.keyId);
    expect(found).toContain(`sealed:${createVault([own]).keyId}:`);
    expect(await exported(other)).toBe(
      await exported(api).then((text) =>
        text.replaceAll(/sealed:\S+/g, (seal: string) =>
          createVault([own]).seal(vault.open(seal.replace(/["',]$/, ''))),
        ),
      ),
    );
  });
});

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
    await using api = await testApi('postgres', { vault });
    await api.group('by hand');
    const archive = await backUp(api);
    await using other = await testApi('postgres', { vault });
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

describe('restoring', () => {
  it('is refused on an account that was used, and for another account', async () => {
    await using api = await testApi('postgres', { vault });
    const archive = await backUp(api);
    await using other = await testApi('postgres', { vault });
    await other.group('used');
    const answer = await restore(other, archive, `?replace=${other.account}`);
    expect([answer.status, answer.body['message']]).toEqual([409, expect.stringContaining(api.account)]);
  });

  it('wants a compressed body', async () => {
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
