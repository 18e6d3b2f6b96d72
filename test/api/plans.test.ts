import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import { doc } from './documents.ts';
import { callAs } from './people.ts';
import { sharedApi, type TestApi, testApi } from './setup.ts';

const api = sharedApi();

const groups = (...names: readonly string[]) => names.map((name) => doc('Group', name, `name: ${name}`)).join('---\n');
const bodyOf = (source: string, text: string, more: JsonObject = {}): JsonObject => ({
  source,
  files: [{ path: 'a.yaml', text }],
  ...more,
});
const text = doc('Group', 'devs', 'peers: [one]');
const plan = async (of: TestApi, source: string, text: string, more: JsonObject = {}) =>
  (await of.call('POST', '/api/config/plans', bodyOf(source, text, more))).body;

describe('a stored plan', () => {
  it('is approved, when a guard stopped it, with its own digest only', async () => {
    const own = api();
    await own.call(
      'POST',
      '/api/config/apply',
      bodyOf('guarded', groups('guarded-a', 'guarded-b', 'guarded-c', 'guarded-d')),
    );
    const before = await own.revision();
    const { id, digest, state } = await plan(own, 'guarded', groups('guarded-a'));
    expect(state).toBe('needs_approval');
    const url = `/api/config/plans/${id}`;
    expect((await own.call('POST', `${url}/apply`)).status).toBe(428);
    expect((await own.call('POST', `${url}/approve`, {})).status).toBe(422);
    expect((await own.call('POST', `${url}/approve`)).status).toBe(400);
    expect((await own.call('POST', `${url}/approve`, { digest: 'f'.repeat(64) })).status).toBe(409);
    const approved = await own.call('POST', `${url}/approve`, { digest });
    expect([approved.status, approved.body]).toMatchObject([
      200,
      { state: 'approved', approvedBy: { name: 'machine owner' }, approvedAt: expect.any(String) },
    ]);
    expect((await own.call('POST', `${url}/apply`)).body.revision).toBe(before + 1);
    expect((await own.call('GET', url)).body).toMatchObject({ state: 'applied', appliedRevision: before + 1 });
    expect((await own.call('POST', `${url}/approve`, { digest })).status).toBe(409);
    expect((await own.call('POST', '/api/config/plans/nothing/approve', { digest })).status).toBe(404);
  });

  it('is listed newest first, and filtered by source and state', async () => {
    await using own = await testApi();
    const first = await plan(own, 'team', groups('one'));
    const second = await plan(own, 'other', groups('two'));
    await own.call('POST', `/api/config/plans/${first.id}/apply`);
    const list = async (query = '') => (await own.call('GET', `/api/config/plans${query}`)).body;
    const { changes: _, claims: _claims, guards: _guards, warnings: _warnings, ...summary } = second;
    expect(await list()).toEqual([summary, expect.objectContaining({ id: first.id, state: 'applied' })]);
    expect(await list('?source=team')).toMatchObject([{ id: first.id, appliedRevision: 2, counts: { create: 1 } }]);
    expect(await list('?state=ready')).toMatchObject([{ id: second.id }]);
    expect(await list('?state=expired')).toEqual([]);
    expect(await list('?limit=1')).toHaveLength(1);
    expect((await own.call('GET', '/api/config/plans?state=new')).status).toBe(422);
  });

  it('is available as Markdown for a change request', async () => {
    const { id } = await plan(api(), 'team', groups('one'));
    const answer = await api().call('GET', `/api/config/plans/${id}.md`);
    expect([answer.status, answer.headers['content-type']]).toEqual([200, 'text/markdown; charset=utf-8']);
    expect(answer.body).toContain('### Plan for `team`: 1 to create, 0 to change, 0 to delete');
    expect(answer.body).toContain(`heddle apply ${id}`);
    expect((await api().call('GET', '/api/config/plans/nothing.md')).status).toBe(404);
  });

  it('E104 is refused when it is stale, with the difference and its author', async () => {
    const own = api();
    const { id } = await plan(own, 'stale', groups('stale', 'other'));
    await own.call('POST', '/api/config/apply', bodyOf('stale', groups('stale')));
    const answer = await own.call('POST', `/api/config/plans/${id}/apply`);
    expect(answer.status).toBe(412);
    expect(answer.body.problems).toMatchObject([
      {
        ...{ code: 'plan_stale', kind: 'Group', key: 'stale' },
        message: `Group stale: was to be created and already exists; machine owner created it in revision ${await own.revision()}`,
      },
    ]);
  });

  it('E103 is applied after an unrelated write, unless `strictBase` is set', async () => {
    const own = api();
    const { id } = await plan(own, 'unrelated', groups('unrelated'));
    await own.group('bystander');
    const before = await own.revision();
    const strict = await own.call('POST', `/api/config/plans/${id}/apply`, { strictBase: true });
    expect([strict.status, strict.body.problems[0].code]).toEqual([412, 'plan_stale']);
    expect((await own.call('POST', `/api/config/plans/${id}/apply`, { strictBase: 'no' })).status).toBe(422);
    expect((await own.call('POST', `/api/config/plans/${id}/apply`)).body.revision).toBe(before + 1);
  });

  it('E108 without changes is applied once, and writes no revision', async () => {
    const own = api();
    await own.call('POST', '/api/config/apply', bodyOf('same', groups('same')));
    const before = await own.revision();
    const { id } = await plan(own, 'same', groups('same'));
    const url = `/api/config/plans/${id}`;
    const statuses = await Promise.all([1, 2, 3].map(async () => (await own.call('POST', `${url}/apply`)).status));
    expect(statuses.sort()).toEqual([200, 412, 412]);
    expect((await own.call('GET', url)).body.state).toBe('applied');
    expect(await own.revision()).toBe(before);
  });
});

it('E110 a dry run never applies, whatever digest is expected', async () => {
  const own = api();
  const before = await own.revision();
  const dry = (more: JsonObject = {}) =>
    own.call('POST', '/api/config/apply?dryRun=true', bodyOf('dry', groups('dry'), more));
  const { digest } = (await dry()).body.plan;
  const expected = await dry({ expectDigest: digest });
  expect([expected.status, expected.body.revision]).toEqual([200, null]);
  expect((await dry({ expectDigest: 'f'.repeat(64) })).status).toBe(412);
  expect((await own.call('POST', '/api/config/apply?dryRun=yes', bodyOf('dry', groups('dry')))).status).toBe(422);
  expect(await own.revision()).toBe(before);
});

it.each(['multipart/form-data; boundary=x', 'application/x-www-form-urlencoded', 'application/octet-stream'])(
  'E156 documents sent as %s are refused with 415',
  async (type) => {
    for (const url of ['/api/config/plans', '/api/config/apply', '/api/config/validate']) {
      const answer = await api().call('POST', url, groups('one'), { 'content-type': type });
      expect([answer.status, answer.body.code]).toEqual([415, 415]);
    }
    const { id } = await plan(api(), 'team', groups('one'));
    for (const verb of ['apply', 'approve']) {
      const answer = await api().call('POST', `/api/config/plans/${id}/${verb}`, 'x', { 'content-type': type });
      expect(answer.status).toBe(415);
    }
  },
);

it.each([
  ['a JSON body', (more: JsonObject) => [bodyOf('team', text, more), ''] as const],
  ['the query', (more: JsonObject) => [text, `?source=team&${new URLSearchParams(more as never)}`] as const],
])('options of a plan are accepted in %s, and stored with the plan', async (_, spelled) => {
  await using own = await testApi();
  const [one = '', two = ''] = await own.peers('one', 'two');
  await own.call('POST', '/api/config/apply', bodyOf('team', text));
  const [{ id }] = (await own.call('GET', '/api/groups?name=devs')).body;
  await own.call('PUT', `/api/groups/${id}`, { name: 'devs', peers: [one, two] });
  const ask = async (more: JsonObject) => {
    const [body, query] = spelled(more);
    const type = typeof body === 'string' ? 'application/yaml' : 'application/json';
    return own.call('POST', `/api/config/plans${query}`, body, { 'content-type': type });
  };
  const removed = [{ units: [{ path: 'peers[two]', before: ['api'] }] }];
  expect((await ask({ membership: 'additive' })).body.changes).toEqual([]);
  const exclusive = await ask({ membership: 'exclusive' });
  expect(exclusive.body.changes).toMatchObject(removed);
  expect((await own.call('POST', `/api/config/plans/${exclusive.body.id}/apply`)).status).toBe(200);
  expect((await own.call('GET', `/api/groups/${id}`)).body.peers).toHaveLength(1);
  for (const [name, value] of Object.entries({
    membership: 'some',
    adopt: 'all',
    force: 'perhaps',
    strictBase: 'so',
  })) {
    const refused = await ask({ [name]: value });
    expect([refused.status, refused.body.message]).toEqual([422, expect.stringContaining(`\`${name}\` must be`)]);
  }
});

it('a stored plan omits the kinds that its reader may not read', async () => {
  const own = api();
  const channel = { apiVersion: 'heddle.dev/v1', kind: 'NotificationChannel', metadata: { name: 'alarms' } };
  const target = { emails: ['ops@example.com'] };
  const spec = { type: 'email', target, event_types: ['user.join'], enabled: true };
  const text = `${JSON.stringify({ ...channel, spec })}\n---\n${doc('Group', 'seen', 'name: seen')}`;
  const body = { source: 'team', files: [{ path: 'a.yaml', text }] };
  const made = await own.call('POST', '/api/config/plans', body);
  expect(made.body.changes.map(({ kind }: { kind: string }) => kind).sort()).toEqual(['Group', 'NotificationChannel']);
  const person = {
    name: 'Net',
    email: 'net@example.com',
    role: 'network_admin',
    auto_groups: [],
    is_service_user: false,
  };
  const ask = await callAs(own, (await own.call('POST', '/api/users', person)).body.id);
  const seen = await ask('GET', `/api/config/plans/${made.body.id}`);
  expect(seen.body.changes.map(({ kind }: { kind: string }) => kind)).toEqual(['Group']);
  expect([seen.body.digest, seen.body.counts]).toEqual([made.body.digest, made.body.counts]);
  expect(seen.body.warnings.map(({ code }: { code: string }) => code)).toContain('changes_hidden');
  for (const part of ['.md', '/patch']) {
    const other = await ask('GET', `/api/config/plans/${made.body.id}${part}`);
    expect([part, other.status]).toEqual([part, 200]);
    expect(JSON.stringify(other.body)).not.toContain('alarms');
  }
});

it('a plan accepts the rules by which files were chosen, and refuses malformed ones', async () => {
  const own = api();
  const rule = { root: 'config', type: 'ignore', name: 'config/.heddleignore', patterns: ['# old', 'old/'] };
  const file = { path: 'config/old/a.yaml', text: doc('Group', 'old', '{}') };
  const other = { path: 'config/b.yaml', text: doc('Group', 'other', '{}') };
  expect((await own.call('POST', '/api/config/apply', { source: 'rules', files: [file, other] })).status).toBe(200);
  const made = await own.call('POST', '/api/config/plans', { source: 'rules', files: [other], rules: [rule] });
  expect(made.body).toMatchObject({ state: 'needs_approval', guards: [{ guard: 'hidden' }] });
  for (const [rules, message] of [
    [{}, 'type_wrong /rules: `rules` must be a list'],
    [[{ ...rule, type: 'keep' }], 'value_not_allowed /rules/0/type: `type` must be one of ignore, exclude, include'],
    [[{ ...rule, root: 1 }], 'type_wrong /rules/0/root: `root` must be a string'],
    [[{ ...rule, root: 'x'.repeat(4097) }], 'value_too_long /rules/0/root: `root` must have at most 4096'],
    [[{ ...rule, patterns: 'x' }], 'type_wrong /rules/0/patterns: `patterns` must be a list'],
    [Array(101).fill(rule), 'list_too_long /rules: `rules` must have at most 100 entries'],
    [[rule, { ...rule, patterns: ['x', '[y'] }], 'pattern_invalid /rules/1/patterns/1: the pattern `[y` has a `[`'],
  ] as const) {
    const refused = await own.call('POST', '/api/config/plans', { source: 'rules', files: [other], rules });
    const found = refused.body.problems.map(
      ({ code, path, message: text }: Record<string, string>) => `${code} ${path}: ${text}`,
    );
    expect([refused.status, found]).toEqual([422, [expect.stringContaining(message)]]);
  }
});
