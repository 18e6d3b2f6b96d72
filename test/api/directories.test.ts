import { describe, expect, it } from 'vitest';
import { addSyncLogs, listSyncLogs } from '../../src/db/logs/sync-logs.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { sha256Base64 } from '../../src/lib/node-pure.ts';
import { isWellFormedToken } from '../../src/lib/token.ts';
import { openedSpec } from '../setup/opened.ts';
import { eventsOf } from './events.ts';
import { problemsOf } from './problems.ts';
import { sharedApi, testApi } from './setup.ts';

const directories = '/api/integrations/directory-idp';
const scims = '/api/integrations/scim-idp';
const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z$/);

const directory = (more: JsonObject = {}): JsonObject => ({
  client_secret: 'c2VjcmV0',
  client_id: 'client',
  tenant_id: 'tenant',
  host: 'directory.example.com',
  ...more,
});
const scim = (more: JsonObject = {}): JsonObject => ({ prefix: 'staff', provider: 'entra', ...more });

describe('a directory integration', () => {
  const api = sharedApi();
  const post = (more: JsonObject = {}) => api().call('POST', directories, directory(more));

  it('is created, read, listed, changed and deleted', async () => {
    await using own = await testApi();
    const made = await own.call('POST', directories, directory());
    const answer = {
      ...{ id: 1, enabled: true, group_prefixes: [], user_group_prefixes: [], client_id: 'client' },
      ...{ tenant_id: 'tenant', sync_interval: 300, host: 'directory.example.com' },
    };
    expect([made.status, made.body]).toEqual([200, answer]);
    expect((await own.call('GET', `${directories}/1`)).body).toEqual(answer);
    expect((await own.call('GET', directories)).body).toEqual([answer]);
    const change = { enabled: false, group_prefixes: ['b', 'a', 'a'], connector_id: 'k', sync_interval: 600 };
    const changed = { ...answer, ...change, group_prefixes: ['b', 'a'] };
    expect((await own.call('PUT', `${directories}/1`, change)).body).toEqual(changed);
    const gone = await own.call('DELETE', `${directories}/1`);
    expect([gone.status, gone.body]).toEqual([200, {}]);
    expect((await own.call('GET', directories)).body).toEqual([]);
    expect((await own.call('POST', directories, directory())).body.id).toBe(2);
    const events = (await eventsOf(own)).filter((event) => event.startsWith('integration.'));
    expect(events).toEqual(
      ['create', 'update', 'delete', 'create'].map((what) => `integration.${what} {"platform":"directory"}`),
    );
  });

  it('keeps omitted fields on a change, including the secret', async () => {
    const { body } = await post({ group_prefixes: ['x'], sync_interval: 301 });
    const stored = async () =>
      (await api().engine.snapshots.current(api().account)).get(`directoryintegration-${body.id}`);
    const sealed = async () => (await stored())?.spec['client_secret'];
    const opened = async () => openedSpec(api().engine, api().account, await stored())['client_secret'];
    const secret = await sealed();
    const before = await api().revision();
    for (const same of [{}, body, { client_secret: '****' }, { host: 'other.example.com' }, { group_prefixes: null }])
      expect((await api().call('PUT', `${directories}/${body.id}`, same)).body).toEqual(body);
    expect(await api().revision()).toBe(before);
    const changed = await api().call('PUT', `${directories}/${body.id}`, { client_secret: 'b3RoZXI=' });
    expect(changed.body).toEqual(body);
    expect(await sealed()).not.toBe(secret);
    expect(await opened()).toBe('b3RoZXI=');
  });

  it.each(['client_secret', 'client_id', 'tenant_id', 'host'])('requires %s on creation', async (name) => {
    const { [name]: _, ...rest } = directory();
    const answer = await api().call('POST', directories, rest);
    expect([answer.status, answer.body.message]).toEqual([422, `\`${name}\` is required; add it`]);
  });

  it.each<[JsonObject, readonly string[]]>([
    [{ sync_interval: 300 }, []],
    [{ sync_interval: 299 }, ['value_out_of_range /sync_interval']],
    [{ sync_interval: '300' }, ['type_wrong /sync_interval']],
    [{ client_secret: 'not base64!' }, ['base64_invalid /client_secret']],
    [{ client_secret: 'c2VjcmV0c' }, ['base64_invalid /client_secret']],
    [{ client_secret: 'c2VjcmV0cw==' }, []],
    [{ client_secret: '' }, ['field_required ']],
    [{ group_prefixes: [''] }, ['value_too_short /group_prefixes/0']],
    [{ client_id: '' }, ['value_too_short /client_id']],
  ])('on creation with %j reports the problems %j', async (more, problems) => {
    const answer = await post(more);
    expect([answer.status, problemsOf(answer)]).toEqual([problems.length === 0 ? 200 : 422, problems]);
    expect(JSON.stringify(answer.body)).not.toContain('base64!');
  });

  it('ignores `enabled` on creation', async () => {
    expect((await post({ enabled: false })).body.enabled).toBe(true);
  });

  it('returns its log, newest first', async () => {
    const { id } = (await post()).body;
    expect((await api().call('GET', `${directories}/${id}/logs`)).body).toEqual([]);
    const { database, now } = api().engine;
    const stored = `directoryintegration-${id}`;
    await addSyncLogs(database, api().account, stored, [
      { level: 'info', timestamp: now(), message: 'Ana asked for a sync' },
      { level: 'error', timestamp: now(), message: 'the sync failed' },
    ]);
    const logs = await api().call('GET', `${directories}/${id}/logs`);
    expect(logs.body).toEqual([
      { id: 2, level: 'error', timestamp, message: 'the sync failed' },
      { id: 1, level: 'info', timestamp, message: 'Ana asked for a sync' },
    ]);
    const again = await api().call('GET', `${directories}/${id}/logs`, undefined, {
      'if-none-match': String(logs.headers['etag']),
    });
    expect(again.status).toBe(304);
    expect((await api().call('GET', `${directories}/${id}`)).body).not.toHaveProperty('last_synced_at');
  });

  it('numbers concurrent log entries, keeps the newest thousand, and deletes them with the integration', async () => {
    const { id } = (await post()).body;
    const stored = `directoryintegration-${id}`;
    const { database } = api().engine;
    const entry = { level: 'info', timestamp: '2026-01-02T03:04:05.000Z', message: 'x' } as const;
    const thousand = Array.from({ length: 999 }, () => entry);
    await addSyncLogs(database, api().account, stored, thousand);
    await Promise.all(Array.from({ length: 8 }, () => addSyncLogs(database, api().account, stored, [entry])));
    const kept = await listSyncLogs(database, api().account, stored);
    expect([kept.length, kept[0]?.id, kept.at(-1)?.id]).toEqual([1000, 1007, 8]);
    await api().call('DELETE', `${directories}/${id}`);
    expect(await listSyncLogs(database, api().account, stored)).toEqual([]);
    expect(await addSyncLogs(database, api().account, stored, [entry])).toBe(false);
  });

  it('returns 404 for an invalid or unknown id', async () => {
    for (const id of ['99', '0', '01', 'x', '-1', '1.5', '99999999999999999999'])
      for (const [method, path] of [
        ['GET', ''],
        ['PUT', ''],
        ['DELETE', ''],
        ['POST', '/sync'],
        ['GET', '/logs'],
      ]) {
        const answer = await api().call(method ?? '', `${directories}/${id}${path}`, method === 'PUT' ? {} : undefined);
        expect([answer.status, answer.body.message]).toEqual([404, expect.stringContaining('not found')]);
      }
  });
});

describe('a SCIM integration', () => {
  const api = sharedApi();
  const post = (more: JsonObject = {}) => api().call('POST', scims, scim(more));
  const masked = (token: string) => token.slice(0, 8) + '*'.repeat(token.length - 8);

  it('is created, read, listed, changed and deleted; its token is shown once', async () => {
    await using own = await testApi();
    const made = await own.call('POST', scims, scim({ group_prefixes: ['g'] }));
    const token = made.body.auth_token;
    expect(isWellFormedToken('nbs_', token)).toBe(true);
    const answer = {
      ...{ id: 1, enabled: true, group_prefixes: ['g'], user_group_prefixes: [], prefix: 'staff', provider: 'entra' },
      auth_token: masked(token),
    };
    expect([made.status, made.body]).toEqual([200, { ...answer, auth_token: token }]);
    expect(made.headers['cache-control']).toBe('no-store');
    expect((await own.call('GET', `${scims}/1`)).body).toEqual(answer);
    expect((await own.call('GET', scims)).body).toEqual([answer]);
    const change = { enabled: false, prefix: 'people', provider: 'okta', auth_token: 'nbs_mine' };
    const changed = { ...answer, enabled: false, prefix: 'people' };
    expect((await own.call('PUT', `${scims}/1`, change)).body).toEqual(changed);
    expect((await own.call('GET', `${scims}/1/logs`)).body).toEqual([]);
    const gone = await own.call('DELETE', `${scims}/1`);
    expect([gone.status, gone.body]).toEqual([200, {}]);
    expect((await own.call('GET', `${scims}/1`)).status).toBe(404);
  });

  it('keeps omitted fields on a change', async () => {
    const { id } = (await post({ user_group_prefixes: ['u'] })).body;
    const { body } = await api().call('GET', `${scims}/${id}`);
    const before = await api().revision();
    for (const same of [{}, body]) expect((await api().call('PUT', `${scims}/${id}`, same)).body).toEqual(body);
    expect(await api().revision()).toBe(before);
  });

  it('gets a new token, of which only a hash and the beginning are stored', async () => {
    const { id, auth_token: first } = (await post()).body;
    const answer = await api().call('POST', `${scims}/${id}/token`);
    expect([answer.status, Object.keys(answer.body)]).toEqual([200, ['auth_token']]);
    const token = answer.body.auth_token;
    expect([isWellFormedToken('nbs_', token), token === first]).toEqual([true, false]);
    expect(answer.headers['cache-control']).toBe('no-store');
    expect((await api().call('GET', `${scims}/${id}`)).body.auth_token).toBe(masked(token));
    const state = await api().engine.snapshots.fresh(api().account);
    const { derived } = state.get(`scimintegration-${id}`) ?? { derived: {} };
    expect(derived).toMatchObject({ token_hash: sha256Base64(token), auth_token: masked(token) });
    expect(JSON.stringify(derived)).not.toContain(token);
    const renewed = (await eventsOf(api())).at(-1);
    expect(renewed).toBe('integration.update {"platform":"entra"}');
  });

  it.each(['prefix', 'provider'])('requires %s on creation', async (name) => {
    const { [name]: _, ...rest } = scim();
    const missing = await api().call('POST', scims, rest);
    expect([missing.status, missing.body.message]).toEqual([422, `\`${name}\` is required; add it`]);
    expect(problemsOf(await post({ [name]: '' }))).toEqual([`value_too_short /${name}`]);
  });

  it('returns 404 for an invalid id or the id of another kind', async () => {
    const other = (await api().call('POST', directories, directory())).body.id + 1000;
    for (const id of [other, 'x'])
      for (const [method, path] of [
        ['GET', ''],
        ['PUT', ''],
        ['DELETE', ''],
        ['POST', '/token'],
        ['GET', '/logs'],
      ]) {
        const answer = await api().call(method ?? '', `${scims}/${id}${path}`, method === 'PUT' ? {} : undefined);
        expect([answer.status, answer.body.message]).toEqual([404, expect.stringContaining('not found')]);
      }
  });
});
