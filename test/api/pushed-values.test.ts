import { afterEach, describe, expect, it } from 'vitest';
import { queryBuilder } from '../../src/db/builder.ts';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import { openedSpec } from '../setup/opened.ts';
import { doc } from './documents.ts';
import { problemsOf } from './problems.ts';
import { sharedApi, type TestApi, testApi } from './setup.ts';

const secret = 'a secret that nobody else writes';
const vendor = (value: string) =>
  doc('EdrVendorB', 'vendor-b', `client_id: c\ntenant_id: t\ngroups: []\nlast_synced_interval: 24\nsecret: ${value}`);
const fromVariable = vendor('{ valueFrom: { envRef: HEDDLE_VALUE_B } }');
const fromFile = vendor('{ valueFrom: { fileRef: edr/b } }');
const push = (text: string, values?: Json): JsonObject => ({
  source: 'team',
  files: [{ path: 'edr.yaml', text }],
  ...(values === undefined ? {} : { values }),
});
const apply = (api: TestApi, text: string, values?: Json) => api.call('POST', '/api/config/apply', push(text, values));

const own = sharedApi();
const withValue = sharedApi({ valueFrom: () => secret });

// The next test starts without the integration.
afterEach(async () => {
  const nothing = push('# nothing left');
  const { body } = await own().call('POST', '/api/config/plans', nothing);
  const emptied = await own().call('POST', '/api/config/apply', { ...nothing, approve: body.digest });
  expect(emptied.status).toBe(200);
});

/** Returns the stored secret, decrypted. */
async function keptSecret({ engine, account }: TestApi): Promise<string> {
  const [object] = (await engine.snapshots.current(account)).ofKind('EdrVendorB');
  return String(openedSpec(engine, account, object)['secret']);
}

async function plansOf({ engine, account }: TestApi): Promise<string> {
  const [rows] = await engine.database.inAccount(account, [
    queryBuilder.selectFrom('plans').selectAll().where('account_id', '=', account).compile(),
  ]);
  return JSON.stringify(rows);
}

describe('a push', () => {
  it.each([
    ['a variable', fromVariable, { 'env:HEDDLE_VALUE_B': secret }],
    ['a file', fromFile, { 'file:edr/b': secret }],
  ])('carries the value of %s, which is stored sealed and not shown', async (_, text, values) => {
    const api = own();
    const applied = await apply(api, text, values);
    expect([applied.status, problemsOf(applied)]).toEqual([200, []]);
    expect(JSON.stringify(applied.body)).not.toContain(secret);
    expect(await keptSecret(api)).toBe(secret);
    expect((await apply(api, text, values)).body.revision).toBeNull();
    const changed = await apply(api, text, Object.fromEntries(Object.keys(values).map((name) => [name, 'another'])));
    expect(changed.body.plan.counts).toMatchObject({ create: 0, update: 1 });
    expect(await keptSecret(api)).toBe('another');
  });

  it.each<[string, JsonObject | undefined, () => TestApi]>([
    ['without values', undefined, own],
    ['with other values', { 'env:HEDDLE_VALUE_C': secret }, own],
    ['with an empty value', { 'env:HEDDLE_VALUE_B': '' }, own],
    ['where only the server has it', undefined, withValue],
  ])('E121 %s is refused with the location and a remedy, and nothing is written', async (_, values, server) => {
    const api = server();
    const before = await api.revision();
    const refused = await apply(api, fromVariable, values);
    expect([refused.status, await api.revision()]).toEqual([422, before]);
    expect(refused.body.problems).toEqual([
      expect.objectContaining({ code: 'secret_unset', file: 'edr.yaml', line: 10, path: '/spec/secret/valueFrom' }),
    ]);
    expect(refused.body.message).toContain('envRef `HEDDLE_VALUE_B` is not set');
    expect(refused.body.message).toContain('send it as `values`: {"env:HEDDLE_VALUE_B": "…"}');
  });

  it('takes values that it lacks from the server when the server shares them', async () => {
    await using api = await testApi('postgres', { valueFrom: () => 'of the server', shareValues: true });
    expect((await apply(api, fromVariable)).status).toBe(200);
    expect(await keptSecret(api)).toBe('of the server');
    expect((await apply(api, fromVariable, { 'env:HEDDLE_VALUE_B': secret })).status).toBe(200);
    expect(await keptSecret(api)).toBe(secret);
  });

  it('cannot name variables that are not meant for documents', async () => {
    await using api = await testApi('postgres', { valueFrom: () => secret, shareValues: true });
    const refused = await apply(api, vendor('{ valueFrom: { envRef: HOME } }'), { 'env:HOME': secret });
    expect([refused.status, problemsOf(refused)]).toEqual([422, ['secret_unset /spec/secret/valueFrom']]);
  });

  it.each<[string, Json, string]>([
    ['a list', [secret], '`values`'],
    ['a text', secret, '`values`'],
    ['names without an origin', { HEDDLE_VALUE_B: secret }, '`values`'],
    ['values that are no texts', { 'env:HEDDLE_VALUE_B': { value: secret } }, 'must be a string, not an object'],
  ])('with %s as `values` is refused, and the values are not repeated', async (_, values, message) => {
    const api = own();
    const refused = await apply(api, fromVariable, values);
    expect([refused.status, refused.body.message]).toEqual([422, expect.stringContaining(message)]);
    expect(JSON.stringify(refused.body)).not.toContain(secret);
  });
});

describe('a stored plan with secrets', () => {
  it('keeps the values of a push sealed, and is applied without sending them again', async () => {
    const api = own();
    const plan = await api.call('POST', '/api/config/plans', push(fromVariable, { 'env:HEDDLE_VALUE_B': secret }));
    expect(plan.status).toBe(201);
    expect(await plansOf(api)).not.toContain(secret);
    const url = `/api/config/plans/${plan.body.id}`;
    for (const path of [url, `${url}/patch`])
      expect(JSON.stringify((await api.call('GET', path)).body)).not.toContain(secret);
    expect((await api.call('POST', `${url}/apply`)).status).toBe(200);
    expect(await keptSecret(api)).toBe(secret);
    expect(await plansOf(api)).not.toContain(secret);
  });

  it('keeps literal secrets of its documents sealed where literals are allowed', async () => {
    await using api = await testApi('postgres', { literalSecrets: true });
    const plan = await api.call('POST', '/api/config/plans', push(vendor(JSON.stringify(secret))));
    expect([plan.status, await plansOf(api)]).toEqual([201, expect.not.stringContaining(secret)]);
    expect((await api.call('POST', `/api/config/plans/${plan.body.id}/apply`)).status).toBe(200);
    expect(await keptSecret(api)).toBe(secret);
  });
});

it('a value that is too long for a secret is refused, and not repeated', async () => {
  const api = own();
  const refused = await apply(api, fromVariable, { 'env:HEDDLE_VALUE_B': 's'.repeat(65_537) });
  expect([refused.status, problemsOf(refused)]).toEqual([422, ['value_too_long /spec/secret/valueFrom']]);
  expect(JSON.stringify(refused.body)).not.toContain('sss');
  expect((await apply(api, fromVariable, { 'env:HEDDLE_VALUE_B': 's'.repeat(65_536) })).status).toBe(200);
});
