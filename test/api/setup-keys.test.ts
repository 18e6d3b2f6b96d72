import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import { problemsOf } from './problems.ts';
import { sharedApi, testApi } from './setup.ts';

const api = sharedApi();
const keys = '/api/setup-keys';
const body: JsonObject = { name: 'CI', type: 'reusable', expires_in: 86400, auto_groups: [], usage_limit: 0 };
const post = (change: JsonObject = {}) => api().call('POST', keys, { ...body, ...change });
const without = (name: string): JsonObject =>
  Object.fromEntries(Object.entries(body).filter(([member]) => member !== name));

describe('setup keys', () => {
  it('are created, read, listed, replaced and deleted, and show their value once', async () => {
    await using own = await testApi();
    const group = await own.group('runners');
    const made = await own.call('POST', keys, { ...body, auto_groups: [group] });
    const { key, expires, updated_at } = made.body;
    const shown = {
      id: 1,
      name: 'CI',
      type: 'reusable',
      auto_groups: [group],
      usage_limit: 0,
      ephemeral: false,
      allow_extra_dns_labels: false,
      revoked: false,
      key: expect.stringMatching(/^[\dA-F]{8}-[\dA-F]{4}-4[\dA-F]{3}-[89AB][\dA-F]{3}-[\dA-F]{12}$/),
      state: 'valid',
      valid: true,
      expires: expect.any(String),
      used_times: 0,
      last_used: '0001-01-01T00:00:00Z',
      updated_at: expect.any(String),
    };
    expect([made.status, made.body]).toEqual([200, shown]);
    expect(Date.parse(expires) - Date.parse(updated_at)).toBeLessThanOrEqual(86_400_000);
    expect(Date.parse(expires)).toBeGreaterThan(Date.now() + 86_000_000);
    expect(made.headers['cache-control']).toBe('no-store');
    const masked = { ...made.body, key: `${key.slice(0, 5)}****` };
    expect((await own.call('GET', `${keys}/1`)).body).toEqual(masked);
    expect((await own.call('GET', keys)).body).toEqual([masked]);
    const revoked = await own.call('PUT', `${keys}/1`, { revoked: true, auto_groups: [] });
    expect(revoked.body).toEqual({
      ...masked,
      ...{ revoked: true, state: 'revoked', valid: false, auto_groups: [], updated_at: expect.any(String) },
    });
    const back = await own.call('PUT', `${keys}/1`, { revoked: false, auto_groups: [] });
    expect(back.body).toMatchObject({ revoked: false, state: 'valid', valid: true });
    const gone = await own.call('DELETE', `${keys}/1`);
    expect([gone.status, gone.body]).toEqual([200, '']);
    for (const [method, sent] of [['GET'], ['DELETE'], ['PUT', { revoked: true, auto_groups: [] }]] as const) {
      const answer = await own.call(method, `${keys}/1`, sent as Json | undefined);
      expect([answer.status, answer.body.message]).toEqual([404, expect.stringContaining('not found')]);
    }
    expect((await own.call('POST', keys, body)).body.id).toBe(2);
  });

  it.each(['x', '0', '-1', '1.5'])('return 404 for the id %s', async (id) => {
    expect((await api().call('GET', `${keys}/${id}`)).status).toBe(404);
  });

  it.each(Object.keys(body))('require %s', async (name) => {
    const answer = await api().call('POST', keys, without(name));
    expect([answer.status, answer.body.message]).toEqual([422, `\`${name}\` is required; add it`]);
  });

  it.each(['revoked', 'auto_groups'])('require %s when replaced', async (name) => {
    const { id } = (await post()).body;
    const whole: JsonObject = { revoked: false, auto_groups: [] };
    const rest = Object.fromEntries(Object.entries(whole).filter(([member]) => member !== name));
    expect((await api().call('PUT', `${keys}/${id}`, rest)).status).toBe(422);
  });

  it.each<readonly [JsonObject, number, readonly string[]]>([
    [{ expires_in: 86400 }, 200, []],
    [{ expires_in: 31536000 }, 200, []],
    [{ expires_in: 86399 }, 422, ['value_out_of_range /expires_in']],
    [{ expires_in: 31536001 }, 422, ['value_out_of_range /expires_in']],
    [{ expires_in: 0 }, 422, ['value_out_of_range /expires_in']],
    [{ usage_limit: -1 }, 422, ['value_out_of_range /usage_limit']],
    [{ type: 'twice' }, 422, ['value_not_allowed /type']],
    [{ type: 'one-off', usage_limit: 1 }, 200, []],
    [{ type: 'one-off', usage_limit: 2 }, 422, ['setup_key_limit /usage_limit']],
    [{ auto_groups: ['nobody'] }, 422, ['reference_unknown /auto_groups/0']],
    [{ auto_groups: null }, 200, []],
    [{ name: '' }, 422, ['value_too_short /name']],
  ])('with %j are answered with %i', async (change, status, problems) => {
    const answer = await post(change);
    expect([answer.status, problemsOf(answer)]).toEqual([status, problems]);
  });

  it('cannot assign the group All', async () => {
    const [all] = (await api().call('GET', '/api/groups?name=All')).body;
    const answer = await post({ auto_groups: [all.id] });
    expect([answer.status, problemsOf(answer)]).toEqual([422, ['group_all_assigned /auto_groups/0']]);
  });

  it('have a usage limit of 1 when they are one-off', async () => {
    expect((await post({ type: 'one-off' })).body).toMatchObject({ type: 'one-off', usage_limit: 1 });
  });

  it('write nothing when they are put back unchanged', async () => {
    const { id } = (await post({ name: 'same', ephemeral: true })).body;
    const read = (await api().call('GET', `${keys}/${id}`)).body;
    const before = await api().revision();
    const same = await api().call('PUT', `${keys}/${id}`, read);
    expect([same.status, same.body, same.headers['heddle-ignored']]).toEqual([200, read, undefined]);
    expect(await api().revision()).toBe(before);
  });

  it('keep their groups from being deleted', async () => {
    const group = await api().group('in use');
    const { id } = (await post({ name: 'user of it', auto_groups: [group] })).body;
    const refused = await api().call('DELETE', `/api/groups/${group}`);
    expect([refused.status, refused.body.message]).toEqual([
      400,
      'group has been linked to setup key: user of it; remove it there first',
    ]);
    await api().call('DELETE', `${keys}/${id}`);
    expect((await api().call('DELETE', `/api/groups/${group}`)).status).toBe(200);
  });
});

const files = (text: string) => ({ source: 'git', files: [{ path: 'keys.yaml', text }] });
const document = `
apiVersion: heddle.dev/v1
kind: SetupKey
metadata: {name: ci}
spec: {type: reusable, expires_in: 86400}
`;

describe('documents of setup keys', () => {
  it('return their value once, and E38 plan no change when they are applied again later', async () => {
    await using own = await testApi();
    const applied = await own.call('POST', '/api/config/apply', files(document));
    expect(applied.body.outputs).toEqual([
      { kind: 'SetupKey', key: 'ci', field: 'key', value: expect.stringMatching(/^[\dA-F-]{36}$/) },
    ]);
    const [key] = (await own.call('GET', keys)).body;
    expect(key).toMatchObject({ name: 'ci', usage_limit: 0, key: `${applied.body.outputs[0].value.slice(0, 5)}****` });
    const again = await own.call('POST', '/api/config/apply', files(document));
    expect(again.body).toMatchObject({ revision: null, plan: { counts: { create: 0, update: 0, delete: 0 } } });
    expect((await own.call('GET', `${keys}/${key.id}`)).body.expires).toBe(key.expires);
    const later = new Date(Date.now() + 86_400_000).toISOString();
    Object.assign(own.engine, { now: () => later });
    expect((await own.call('POST', '/api/config/apply', files(document))).body.revision).toBeNull();
    const expired = { ...key, state: 'expired', valid: false };
    expect((await own.call('GET', `${keys}/${key.id}`)).body).toEqual(expired);
  });

  it('cannot change what only creation sets', async () => {
    await using own = await testApi();
    await own.call('POST', '/api/config/apply', files(document));
    const longer = await own.call('POST', '/api/config/apply', files(document.replace('86400', '864000')));
    expect([longer.status, problemsOf(longer)]).toEqual([422, ['field_fixed /spec/expires_in']]);
  });

  it('revoke a key', async () => {
    await using own = await testApi();
    await own.call('POST', '/api/config/apply', files(document));
    await own.call('POST', '/api/config/apply', files(document.replace('86400}', '86400, revoked: true}')));
    expect((await own.call('GET', keys)).body).toMatchObject([{ revoked: true, state: 'revoked' }]);
  });
});

it('a duration with a unit instead of a number of seconds is refused with the correct notation', async () => {
  const body = { name: 'k', type: 'reusable', expires_in: '30d', auto_groups: [], usage_limit: 0 };
  const answer = await api().call('POST', '/api/setup-keys', body);
  expect([answer.status, answer.body.problems]).toMatchObject([
    422,
    [{ code: 'type_wrong', path: '/expires_in', message: expect.stringContaining('without a unit instead of `30d`') }],
  ]);
});
