import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { queryBuilder } from '../../src/db/builder.ts';
import { resealAll } from '../../src/db/sealing/rotate.ts';
import { createVault } from '../../src/db/sealing/vault.ts';
import { createReader } from '../../src/documents/reader.ts';
import { defineDirectory, type OpenOptions } from '../../src/features/sources/definition.ts';
import { openDirectory } from '../../src/features/sources/directory/directory.ts';
import { superviseSources } from '../../src/features/sources/loop/supervisor.ts';
import { temporaryDirectory } from '../setup/database.ts';
import { createWorld } from '../spec/world.ts';
import { doc } from './documents.ts';
import { type TestApi, testApi, token } from './setup.ts';

const key = (name: string) =>
  doc('SetupKey', name, `type: reusable\nexpires_in: 86400\nusage_limit: 0\nauto_groups: []`);
const scim = doc('ScimIntegration', 'okta', 'prefix: p\nprovider: okta');

/**
 * Prepares a directory whose files are applied automatically. `heard` resolves with the first matching line that is
 * reported after the call.
 */
async function source(api: TestApi) {
  const directory = await temporaryDirectory();
  const reader = createReader();
  const lines: string[] = [];
  const waiting = new Set<(line: string) => void>();
  const open = (options: OpenOptions) => openDirectory({ path: directory, settleMs: 5, ...options });
  const definition = { ...defineDirectory(api.account, { name: 'office', path: directory }), open };
  const publish = ({ message }: { readonly message: string }): void => {
    lines.push(message);
    for (const hear of waiting) hear(message);
  };
  const { engine } = api;
  const start = () =>
    superviseSources({ engine, reader, definitions: [definition], leaseSeconds: 30, version: 'test', report: publish });
  const heard = (pattern: RegExp): Promise<string> =>
    new Promise((resolve) => {
      const hear = (line: string): void => {
        const found = pattern.exec(line);
        if (found === null) return;
        waiting.delete(hear);
        resolve(found[1] ?? line);
      };
      waiting.add(hear);
    });
  return { directory, reader, lines, start, heard };
}

const planId = /heddle outputs (\w+)/;

async function tablesOf({ engine, account }: TestApi): Promise<string> {
  const tables = ['plans', 'objects', 'declared', 'changes', 'revisions', 'audit_events', 'sources'] as const;
  const found = await engine.database.inAccount(
    account,
    tables.map((table) => queryBuilder.selectFrom(table).selectAll().where('account_id', '=', account).compile()),
  );
  return JSON.stringify(found);
}

describe('values generated for a directory source', () => {
  it('E123 are stored sealed with the applied plan, returned once, and then gone', async () => {
    await using api = await testApi();
    const { directory, reader, lines, start, heard } = await source(api);
    await writeFile(join(directory, 'keys.yaml'), `${key('agents')}---\n${key('runners')}---\n${scim}`);
    const reported = heard(planId);
    const stop = start();
    const id = await reported;
    const url = `/api/config/plans/${id}`;
    expect((await api.call('GET', url)).body).toMatchObject({
      state: 'applied',
      source: 'office',
      counts: { create: 3 },
    });
    expect((await api.call('GET', '/api/config/revisions?limit=1')).body[0]).toMatchObject({
      plan: id,
      source: 'office',
    });
    const first = await api.call('GET', `${url}/outputs`);
    expect([first.status, first.headers['cache-control'], first.headers['etag']]).toEqual([200, 'no-store', undefined]);
    expect(first.body).toEqual([
      { kind: 'ScimIntegration', key: 'okta', field: 'auth_token', value: expect.stringMatching(/^nbs_/) },
      { kind: 'SetupKey', key: 'agents', field: 'key', value: expect.stringMatching(/^[0-9A-F-]{36}$/) },
      { kind: 'SetupKey', key: 'runners', field: 'key', value: expect.stringMatching(/^[0-9A-F-]{36}$/) },
    ]);
    const again = await api.call('GET', `${url}/outputs`);
    expect([again.status, again.body.message]).toEqual([410, expect.stringContaining('were read already')]);
    const tables = await tablesOf(api);
    for (const { value } of first.body) {
      expect(tables).not.toContain(value);
      expect(lines.join('\n')).not.toContain(value);
    }
    const [shown] = (await api.call('GET', '/api/setup-keys')).body;
    const made = first.body.find(({ key: name }: { key: string }) => name === shown.name);
    expect(made.value.startsWith(shown.key.replace(/\*+$/, ''))).toBe(true);
    await stop();
    await reader.close();
  });

  it('are generated once: applying again generates none, and a later document gets a separate plan', async () => {
    await using api = await testApi();
    const { directory, reader, lines, start, heard } = await source(api);
    await writeFile(join(directory, 'a.yaml'), key('first'));
    let reported = heard(planId);
    let stop = start();
    const first = await reported;
    await stop();
    const quiet = heard(/(nothing to do)/);
    stop = start();
    await quiet;
    reported = heard(planId);
    await writeFile(join(directory, 'b.yaml'), key('second'));
    const second = await reported;
    expect(lines.filter((line) => planId.test(line))).toHaveLength(2);
    const keysOf = async (id: string) =>
      (await api.call('GET', `/api/config/plans/${id}/outputs`)).body.map((output: { key: string }) => output.key);
    expect([await keysOf(first), await keysOf(second)]).toEqual([['first'], ['second']]);
    await stop();
    await reader.close();
  });

  it('are returned once, also to 10 simultaneous readers', async () => {
    await using api = await testApi();
    const { directory, reader, start, heard } = await source(api);
    await writeFile(join(directory, 'a.yaml'), key('raced'));
    const reported = heard(planId);
    const stop = start();
    const url = `/api/config/plans/${await reported}/outputs`;
    const answers = await Promise.all(Array.from({ length: 10 }, () => api.call('GET', url)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 9 }, () => 410)]);
    await stop();
    await reader.close();
  });

  it('are refused to auditors and plan-only tokens, and a HEAD request does not consume them', async () => {
    await using api = await testApi();
    const { directory, reader, start, heard } = await source(api);
    await writeFile(join(directory, 'a.yaml'), key('guarded'));
    const reported = heard(planId);
    const stop = start();
    const url = `/api/config/plans/${await reported}/outputs`;
    await stop();
    await reader.close();
    const auditor = { name: 'Ada', role: 'auditor', auto_groups: [], is_service_user: true };
    const { id } = (await api.call('POST', '/api/users', auditor)).body;
    const asAuditor = await createWorld(api, 'self-hosted', new Map()).headersOf(api.account, id);
    const me = (await api.call('GET', '/api/users/current')).body.id;
    const planner = { name: 'plans', expires_in: 1, plan_only: true };
    const { plain_token } = (await api.call('POST', `/api/users/${me}/tokens`, planner)).body;
    for (const headers of [asAuditor, { authorization: `Token ${plain_token}` }])
      expect((await api.call('GET', url, undefined, headers)).status).toBe(403);
    const head = await api.app.inject({ method: 'HEAD', url, headers: { authorization: `Token ${token}` } });
    expect(head.statusCode).toBe(405);
    expect((await api.call('GET', url)).body).toMatchObject([{ key: 'guarded' }]);
  });

  it('remain readable after the key for secrets at rest is rotated', async () => {
    const old = new Uint8Array(32).fill(1);
    await using api = await testApi('postgres', { vault: createVault([old]) });
    const { directory, reader, start, heard } = await source(api);
    await writeFile(join(directory, 'a.yaml'), key('kept'));
    const reported = heard(planId);
    const stop = start();
    const id = await reported;
    await stop();
    await reader.close();
    const vault = createVault([new Uint8Array(32).fill(2), old]);
    const { rows } = await resealAll(api.engine.database, {
      registry: api.engine.registry,
      vault,
      form: 'bound',
      acceptUnbound: false,
    });
    expect(rows).toBeGreaterThan(0);
    const tables = await tablesOf(api);
    expect([tables.includes(`sealed:2:${vault.keyId}:`), tables.includes(`:${createVault([old]).keyId}:`)]).toEqual([
      true,
      false,
    ]);
    Object.assign(api.engine.planEnvironment, { vault });
    expect((await api.call('GET', `/api/config/plans/${id}/outputs`)).body).toMatchObject([{ key: 'kept' }]);
  });
});

describe('values generated by a plan that is applied over the API', () => {
  const push = (text: string) => ({ source: 'team', files: [{ path: 'keys.yaml', text }] });

  it('E123 are in the answer, and cannot be read again', async () => {
    await using api = await testApi();
    const plan = (await api.call('POST', '/api/config/plans', push(key('agents')))).body;
    const url = `/api/config/plans/${plan.id}`;
    expect((await api.call('GET', `${url}/outputs`)).body).toEqual([]);
    const applied = await api.call('POST', `${url}/apply`);
    expect(applied.body.outputs).toMatchObject([{ kind: 'SetupKey', key: 'agents', field: 'key' }]);
    expect((await api.call('POST', `${url}/apply`)).body.outputs).toBeUndefined();
    const read = await api.call('GET', `${url}/outputs`);
    expect([read.status, read.body.code]).toEqual([410, 410]);
    expect(await tablesOf(api)).not.toContain(applied.body.outputs[0].value);
  });

  it('are an empty list when nothing was generated, and 404 for an unknown plan', async () => {
    await using api = await testApi();
    const plan = (await api.call('POST', '/api/config/plans', push(doc('Group', 'plain', '{}')))).body;
    await api.call('POST', `/api/config/plans/${plan.id}/apply`);
    const none = await api.call('GET', `/api/config/plans/${plan.id}/outputs`);
    expect([none.status, none.body]).toEqual([200, []]);
    const unknown = await api.call('GET', '/api/config/plans/nobody/outputs');
    expect([unknown.status, unknown.body.message]).toEqual([404, expect.stringContaining('not found')]);
  });
});
