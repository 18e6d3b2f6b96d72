import { randomBytes } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import { expect } from 'vitest';
import { environmentOfKeys } from '../../src/app/engine.ts';
import { archiveOfBytes } from '../../src/db/archive/packed.ts';
import { keyBytes } from '../../src/db/sealing/derive-key.ts';
import { type AccountRestoreOptions, restoreWholeAccount } from '../../src/features/config/archive/restore-account.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { Conflict, InvalidInput } from '../../src/model/errors.ts';
import { rowsOf } from '../commit/office.ts';
import { doc } from './documents.ts';
import { type TestApi, testApi, token } from './setup.ts';

export const key = randomBytes(keyBytes);
export const keys = environmentOfKeys([key]);
export const { vault } = keys;

/** Applies documents as a source. */
export const apply = (api: TestApi, source: string, text: string) =>
  api.call('POST', '/api/config/apply', { source, files: [{ path: 'a.yaml', text }] });

export const documents = [
  doc('Group', 'developers', 'name: Developers\npeers: [laptop]'),
  doc('Group', 'ops', 'name: ops'),
  doc('Policy', 'web', 'rules: [{name: r, action: accept, protocol: all, sources: [developers], destinations: [ops]}]'),
  doc('SetupKey', 'ci', 'name: CI\ntype: reusable\nexpires_in: 86400\nauto_groups: [ops]'),
].join('---\n');

/** Creates an account with sources, objects created over the API, a secret, tokens and a history. */
export async function furnished(): Promise<TestApi> {
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

/** Downloads an archive of the account. */
export async function backUp(api: TestApi, query = ''): Promise<Buffer> {
  const answer = await api.app.inject({
    method: 'GET',
    url: `/api/config/backup${query}`,
    headers: { authorization: `Token ${token}` },
  });
  const { 'content-type': type, 'cache-control': caching } = answer.headers;
  expect([answer.statusCode, type, caching]).toEqual([200, 'application/gzip', 'no-store']);
  return answer.rawPayload;
}

/**
 * Backs up an account, then changes it. Returns the documents and the revision in the archive, and the current
 * revision.
 */
export async function changedSinceBackup(api: TestApi) {
  const documentsThen = await exported(api);
  const archive = await backUp(api);
  const then = await api.revision();
  await api.group('later');
  await apply(api, 'team', doc('Group', 'only-this', 'name: only-this'));
  return { documentsThen, archive, then, now: await api.revision() };
}

/** Restores an archive as the operator. Returns 200, or the status and message of the refusal. */
export async function restore(
  api: TestApi,
  archive: Buffer,
  options: AccountRestoreOptions = {},
): Promise<{ status: number; body: JsonObject }> {
  try {
    return { status: 200, body: { ...(await restoreWholeAccount(api.engine, archiveOfBytes(archive), options)) } };
  } catch (error) {
    if (error instanceof InvalidInput || error instanceof Conflict)
      return { status: error instanceof InvalidInput ? 422 : 409, body: { message: error.message } };
    throw error;
  }
}

/** Uploads an archive as an owner, which restores the objects of the account. */
export async function sendBack(
  api: TestApi,
  archive: Buffer,
  query = '',
): Promise<{ status: number; body: JsonObject }> {
  const answer = await api.app.inject({
    method: 'POST',
    url: `/api/config/restore${query}`,
    headers: { authorization: `Token ${token}`, 'content-type': 'application/gzip' },
    payload: archive,
  });
  return { status: answer.statusCode, body: answer.json() };
}

/** Returns the rows of all relevant tables as text, to check that nothing was written. */
export async function everything(api: TestApi): Promise<string> {
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

export const exported = async (api: TestApi) => (await api.call('GET', '/api/config/export')).body;
/** Returns the activity codes of the audit log, in order. */
export async function codes(api: TestApi): Promise<readonly unknown[]> {
  const rows = await rowsOf(api.engine.database, 'select activity_code as code from audit_events order by id');
  return rows.map(({ code }) => code);
}
export const linesOf = (archive: Buffer) => gunzipSync(archive).toString().trimEnd().split('\n');
export const packed = (lines: readonly string[]) => gzipSync(`${lines.join('\n')}\n`);
