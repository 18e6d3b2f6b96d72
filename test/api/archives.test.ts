import { randomBytes } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { environmentOfKeys } from '../../src/app/engine.ts';
import { sectionNames } from '../../src/db/archive/format.ts';
import { keyBytes } from '../../src/db/sealing/derive-key.ts';
import { createVault } from '../../src/db/sealing/vault.ts';
import { bindCredential, findCredentialHosts } from '../../src/db/sources/credential-hosts.ts';
import { listFormerGitHosts } from '../../src/db/sources/former-git-hosts.ts';
import { compactHistory } from '../../src/features/config/history/retention.ts';
import { canonicalJson } from '../../src/lib/json.ts';
import { secretsOf } from '../../src/model/schema/secret-fields.ts';
import { rowsOf } from '../commit/office.ts';
import { objectsOf } from '../plan/invariants.ts';
import { openedSpec } from '../setup/opened.ts';
import {
  apply,
  backUp,
  changedSinceBackup,
  codes,
  documents,
  everything,
  exported,
  furnished,
  key,
  keys,
  linesOf,
  restore,
  vault,
} from './archive-setup.ts';
import { type TestApi, testApi } from './setup.ts';

/** The server of tests that change no existing object of it. */
let original: TestApi;
beforeAll(async () => {
  original = await furnished();
});
afterAll(() => original[Symbol.asyncDispose]());

describe('an account restored from a backup', () => {
  it('has the same documents, ids, history, numbers and tokens on a new server, and its sources plan no changes', async () => {
    const api = original;
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
    // Sequential ids continue after the last one of the original account.
    const made = { name: 'next', type: 'reusable', expires_in: 86400, auto_groups: [], usage_limit: 0 };
    const next = (await other.call('POST', '/api/setup-keys', made)).body;
    expect(next.id).toBe((await api.call('POST', '/api/setup-keys', made)).body.id);
    const accounts = await rowsOf(other.engine.database, 'select account_id from accounts');
    expect(accounts).toEqual([{ account_id: api.account }]);
  });

  it('moves between the embedded database and Postgres', async () => {
    const api = original;
    await using embedded = await testApi('embedded', keys);
    expect((await restore(embedded, await backUp(api))).status).toBe(200);
    expect(await exported(embedded)).toBe(await exported(api));
    await using again = await testApi('postgres', keys);
    expect((await restore(again, await backUp(embedded))).status).toBe(200);
    expect(await exported(again)).toBe(await exported(api));
    expect(await again.revision()).toBe((await api.revision()) + 2);
  });

  it('has no earlier history when the backup was made without history', async () => {
    const api = original;
    const archive = await backUp(api, '?history=false');
    const revision = await api.revision();
    await using other = await testApi('postgres', keys);
    expect((await restore(other, archive)).body).toMatchObject({ history: false });
    expect(await exported(other)).toBe(await exported(api));
    expect((await other.call('GET', `/api/config/revisions/${revision}`)).status).toBe(410);
    expect((await other.call('GET', `/api/config/export?revision=${revision}`)).body).toBe(await exported(api));
    expect((await other.call('GET', `/api/config/export?revision=${revision - 1}`)).status).toBe(410);
  });

  it('matches one revision, despite concurrent writes and after its history was compacted', async () => {
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
      const then = await api.engine.pastStates.at(api.account, revision);
      expect(objectsOf(await other.engine.snapshots.fresh(api.account))).toEqual(objectsOf(then));
    }
  });

  it('replaces the existing account when that is named, and later changes are gone', async () => {
    await using api = await furnished();
    const { archive, documentsThen, then, now } = await changedSinceBackup(api);
    const refused = await restore(api, archive);
    expect(refused).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining(`--replace ${api.account}`) },
    });
    expect((await restore(api, archive, { replace: 'other' })).status).toBe(422);
    const answer = await restore(api, archive, { replace: api.account });
    expect(answer).toMatchObject({ status: 200, body: { restored: then, revision: now + 1 } });
    expect(await exported(api)).toBe(documentsThen);
    // A restore keeps the audit log, and never assigns an id twice.
    const happened = await codes(api);
    expect(happened).toContain('setupkey.delete');
    expect(happened.at(-1)).toBe('config.restored');
    expect((await api.call('GET', `/api/config/export?revision=${then}`)).body).toBe(documentsThen);
    expect((await api.group('again')).length).toBeGreaterThan(0);
  });

  it.each([
    ['was used', 'own'],
    ['was made and never used', 'unused'],
  ])('that %s keeps the hosts bound to its credential files and its former Git hosts', async (_, which) => {
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

  it('is reloaded by servers that had cached a later state', async () => {
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

describe('secrets in an archive', () => {
  it('stay sealed, and require the key of the original server', async () => {
    const api = original;
    const archive = await backUp(api);
    const text = gunzipSync(archive).toString();
    expect(text).not.toContain('hunter2');
    expect(text).toContain(`sealed:2:${vault.keyId}:`);
    const fresh = environmentOfKeys([randomBytes(keyBytes)]);
    await using foreign = await testApi('postgres', fresh);
    const before = await everything(foreign);
    const answer = await restore(foreign, archive);
    expect([answer.status, answer.body['message']]).toEqual([422, expect.stringContaining(vault.keyId)]);
    expect(await everything(foreign)).toBe(before);
  });

  it('are sealed with the new key when the server has both keys', async () => {
    const api = original;
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

/** Returns the decrypted secrets of all objects. */
async function openedSecrets({ engine }: TestApi, account: string): Promise<readonly string[]> {
  const state = await engine.snapshots.fresh(account);
  const objects = [...state.objects()].sort((a, b) => (a.id < b.id ? -1 : 1));
  return objects.flatMap((object) => {
    const { spec } = engine.registry.get(object.kind);
    return secretsOf(spec, object.spec).length === 0 ? [] : [canonicalJson(openedSpec(engine, account, object))];
  });
}

it('every table of an account is in the archive or on the list of exceptions', async () => {
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
    audit_base: 'says what this server deleted; an archive may have it still',
    leases: 'which server runs what',
    turns: 'which server writes next',
    former_git_hosts: 'which hosts the first releases named',
    credential_hosts: 'where files of this server are shown',
    plans: 'are of one day, and of the state they were made on',
    idempotency_keys: 'answers of one day',
    feed_batches: 'which reports arrived lately',
    feed_hours: 'counts of the logs',
    feed_values: 'names in the logs',
    proxy_log: 'is a log',
    proxy_log_numbers: 'number the records of a log',
    traffic_log: 'is a log',
    traffic_log_numbers: 'number the records of a log',
    peer_status: 'which peers are connected',
    agent_nonces: 'are of minutes',
    proxies: 'which proxies are connected',
    proxy_tokens: 'proxies are let in anew, by tokens of the new server',
    service_status: 'proxies report it anew',
    deliveries: 'a new server delivers what happens from then on',
    record_deliveries: 'a new server delivers what happens from then on',
    feed_numbers: 'count the records of the logs',
    set_aside_records: 'were for receivers of the old server to refuse',
    set_aside_events: 'were for receivers of the old server to refuse',
    directory_groups: 'are read again from the directory',
    directory_members: 'are read again from the directory',
    directory_syncs: 'a new server reads the directory again',
    directory_users: 'are read again from the directory',
    endpoint_security: 'a new server asks the products itself',
    integration_syncs: 'the next synchronisation writes it again',
    proved_domains: 'a new server looks for the records itself',
    proxy_domains: 'a new server looks for the records itself',
    webhook_keys: 'a new server signs with a key of its own',
  };
  const sections = sectionNames.filter((name) => name !== 'account');
  expect(found.map(({ name }) => name)).toEqual([...Object.keys(leftOut), ...sections].sort());
});
