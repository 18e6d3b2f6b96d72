import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import { doc } from './documents.ts';
import { sharedApi, type TestApi, testApi } from './setup.ts';

const api = sharedApi();

const groups = (...names: readonly string[]) => names.map((name) => doc('Group', name, `name: ${name}`)).join('---\n');
const bodyOf = (source: string, text: string, more: JsonObject = {}): JsonObject => ({
  source,
  files: [{ path: 'a.yaml', text }],
  ...more,
});
const apply = (of: TestApi, source: string, text: string, more: JsonObject = {}) =>
  of.call('POST', '/api/config/apply', bodyOf(source, text, more));
const namesOf = async (of: TestApi): Promise<readonly string[]> =>
  (await of.call('GET', '/api/groups')).body.map(({ name }: { name: string }) => name).sort();

it('POST /api/config/validate checks documents and writes nothing', async () => {
  const own = api();
  const before = [await own.revision(), await namesOf(own)];
  const answer = await own.call('POST', '/api/config/validate', bodyOf('s', groups('one', 'two')));
  expect([answer.status, answer.body]).toEqual([200, { valid: true, documents: 2, warnings: [] }]);
  expect([await own.revision(), await namesOf(own)]).toEqual(before);
});

it('POST /api/config/plans stores a plan, which is shown, and applied once as one revision', async () => {
  await using own = await testApi();
  const made = await own.call('POST', '/api/config/plans', bodyOf('team', groups('one', 'two')));
  expect(made.status).toBe(201);
  expect(made.body).toMatchObject({
    formatVersion: '1.0',
    state: 'ready',
    source: 'team',
    baseRevision: 1,
    counts: { create: 2, update: 0, delete: 0, claims: 0 },
    guards: [],
    warnings: [],
  });
  expect(made.body.changes[0]).toEqual({
    ...{ action: 'create', kind: 'Group', key: 'one', name: 'one', file: 'a.yaml', line: 1, risks: [] },
    units: [{ path: 'name', after: 'one' }],
  });
  expect(await own.revision()).toBe(1);
  const url = `/api/config/plans/${made.body.id}`;
  expect((await own.call('GET', url)).body).toEqual(made.body);
  expect((await own.call('GET', `${url}/patch`)).body).toMatchObject([
    { action: 'create', key: 'one' },
    { key: 'two' },
  ]);
  const applied = await own.call('POST', `${url}/apply`);
  expect([applied.status, applied.body.revision]).toEqual([200, 2]);
  expect(await namesOf(own)).toEqual(['All', 'one', 'two']);
  expect((await own.call('GET', url)).body.state).toBe('applied');
  expect((await own.call('POST', `${url}/apply`)).status).toBe(412);
  expect(await own.revision()).toBe(2);
});

it('POST /api/config/apply applies in one call, and changes nothing the second time', async () => {
  await using own = await testApi();
  const first = await apply(own, 'team', groups('one'));
  expect([first.status, first.body.revision, first.body.plan.counts.create]).toEqual([200, 2, 1]);
  const again = await apply(own, 'team', groups('one'));
  expect([again.body.revision, again.body.plan.changes, again.body.plan.claims]).toEqual([null, [], []]);
  expect(await own.revision()).toBe(2);
  const gone = await apply(own, 'team', groups('two'));
  expect(gone.body.plan.counts).toMatchObject({ create: 1, delete: 1 });
  expect(await namesOf(own)).toEqual(['All', 'two']);
  const kept = await apply(own, 'team', groups('three'), { prune: false });
  expect(kept.body.plan.counts).toMatchObject({ create: 1, delete: 0 });
});

it('POST /api/config/apply?dryRun=true returns the plan and writes nothing', async () => {
  const own = api();
  const before = await own.revision();
  const { status, body } = await own.call('POST', '/api/config/apply?dryRun=true', bodyOf('dry', groups('dry-run')));
  expect([status, body.revision, body.plan.counts.create]).toEqual([200, null, 1]);
  expect(await own.revision()).toBe(before);
});

it.each(['application/yaml', 'text/yaml', 'application/x-yaml', 'text/plain; charset=utf-8'])(
  'POST /api/config/plans accepts one YAML text as %s, with options in the query',
  async (type) => {
    const own = api();
    const headers = { 'content-type': type };
    const url = '/api/config/plans?source=yaml&prune=false';
    const { status, body } = await own.call('POST', url, groups('yaml'), headers);
    expect([status, body.source, body.changes[0].file]).toEqual([201, 'yaml', '-']);
    const wrong = await own.call('POST', '/api/config/validate?source=yaml', doc('Group', 'x', 'nam: x'), headers);
    expect(wrong.body.problems).toMatchObject([{ file: '-', line: 6, column: expect.any(Number) }]);
  },
);

it.each([
  [{ source: 'x' }, '', '`files` is missing; send {'],
  [{ source: 'x', files: null }, '', '`files` is missing; send {'],
  [{ source: 'x', files: 'x' }, '/files', '`files` must be'],
  [{ source: 'x', files: [{ path: 'a' }] }, '/files/0', '`text` is required'],
  [{ source: 'x', files: ['x'] }, '/files/0', 'must be an object'],
  [{ files: [], source: 'not a name' }, '/source', 'is not a valid source name'],
  [{ files: [], source: '' }, '/source', 'must not be empty'],
  [{ files: [], source: 7 }, '/source', 'source'],
  [{ files: [] }, '', '`source` is missing; name the source that states the documents'],
  [{ files: [], source: 'x', override: '' }, '/override', 'override'],
  [
    { files: [], source: 'x', override: ' ' },
    '/override',
    '`override` must give the reason, in at most 500 characters',
  ],
  [{ files: [], source: 'x', prune: 'maybe' }, '/prune', 'prune'],
  [{ files: [], source: 'x', approve: true }, '/approve', 'approve'],
] as [JsonObject, string, string][])('POST /api/config/apply refuses %j at %j', async (body, path, message) => {
  const answer = await api().call('POST', '/api/config/apply', body);
  expect([answer.status, answer.body.problems]).toEqual([
    422,
    [expect.objectContaining({ path, message: expect.stringContaining(message) })],
  ]);
});

it('POST /api/config/apply reports every problem of its body and its query', async () => {
  const answer = await api().call('POST', '/api/config/apply?prune=perhaps', { files: ['x'] });
  expect(answer.body.problems).toEqual([
    expect.objectContaining({ code: 'field_required', path: '' }),
    expect.objectContaining({ code: 'type_wrong', path: '/files/0' }),
    expect.objectContaining({ code: 'filter_invalid', path: '/prune' }),
  ]);
});

it.each(['/api/config/plans', '/api/config/apply', '/api/config/validate'])('POST %s requires a body', async (url) => {
  for (const [body, status] of [
    [undefined, 400],
    ['[]', 400],
    ['{', 400],
    ['', 400],
  ] as const)
    expect((await api().call('POST', url, body)).status).toBe(status);
  expect((await api().call('POST', url, 'x', { 'content-type': 'image/png' })).status).toBe(415);
});

describe('guards', () => {
  it("require the approval of the plan's digest to empty a source, in one call and with a stored plan", async () => {
    await using own = await testApi();
    await apply(own, 'team', groups('a', 'b', 'c', 'd'));
    const refused = await apply(own, 'team', '# nothing left\n');
    expect(refused.status).toBe(428);
    expect(refused.body.plan.guards.length).toBeGreaterThan(0);
    expect(refused.body.message).toContain(refused.body.plan.digest);
    expect(await namesOf(own)).toHaveLength(5);
    const other = await apply(own, 'team', '# nothing left\n', { approve: 'f'.repeat(64) });
    expect(other.status).toBe(428);
    const plan = (await own.call('POST', '/api/config/plans', bodyOf('team', '# nothing left\n'))).body;
    expect([plan.state, plan.digest]).toEqual(['needs_approval', refused.body.plan.digest]);
    const url = `/api/config/plans/${plan.id}/apply`;
    expect((await own.call('POST', url)).status).toBe(428);
    expect((await own.call('POST', url, { approve: 'wrong' })).status).toBe(428);
    expect((await own.call('POST', url, { approve: plan.digest })).body.revision).toBe(3);
    expect(await namesOf(own)).toEqual(['All']);
  });

  it('accept an approval for one plan only', async () => {
    const own = api();
    await apply(own, 'approved', groups('approved-a', 'approved-b', 'approved-c', 'approved-d'));
    const { digest } = (await apply(own, 'approved', groups('approved-a'))).body.plan;
    expect((await apply(own, 'approved', groups('approved-b'), { approve: digest })).status).toBe(428);
    expect((await apply(own, 'approved', groups('approved-a'), { approve: digest })).status).toBe(200);
  });
});

describe('a stored plan', () => {
  it('is refused with 412 when it would now do something else', async () => {
    const own = api();
    const plan = (await own.call('POST', '/api/config/plans', bodyOf('stale', groups('stale-1', 'stale-2')))).body;
    await apply(own, 'stale', groups('stale-1'));
    const late = await own.call('POST', `/api/config/plans/${plan.id}/apply`);
    expect([late.status, late.body.code]).toEqual([412, 412]);
    expect((await own.call('GET', `/api/config/plans/${plan.id}/patch`)).status).toBe(412);
    const digest = (await own.call('POST', '/api/config/plans', bodyOf('stale', groups('stale-1', 'stale-2')))).body
      .digest;
    expect((await apply(own, 'stale', groups('stale-1'), { expectDigest: digest })).status).toBe(412);
    expect((await apply(own, 'stale', groups('stale-1', 'stale-2'), { expectDigest: digest })).status).toBe(200);
  });

  it('is applied when only other objects changed', async () => {
    const own = api();
    const plan = (await own.call('POST', '/api/config/plans', bodyOf('unrelated', groups('unrelated')))).body;
    await own.group('bystander');
    const before = await own.revision();
    expect((await own.call('POST', `/api/config/plans/${plan.id}/apply`)).body.revision).toBe(before + 1);
  });

  it('is not found when it never existed', async () => {
    for (const [method, rest] of [
      ['GET', ''],
      ['POST', '/apply'],
      ['GET', '/patch'],
    ] as const) {
      const answer = await api().call(method, `/api/config/plans/nothing${rest}`);
      expect([answer.status, answer.body.message]).toEqual([404, expect.stringContaining('not found')]);
    }
  });

  it('is applied once, however many clients apply it', async () => {
    const own = api();
    const { id } = (await own.call('POST', '/api/config/plans', bodyOf('eight', groups('eight')))).body;
    const before = await own.revision();
    const all = Array.from({ length: 8 }, () => own.call('POST', `/api/config/plans/${id}/apply`));
    const statuses = (await Promise.all(all)).map(({ status }) => status).sort();
    expect(statuses).toEqual([200, ...Array.from({ length: 7 }, () => 412)]);
    expect(await own.revision()).toBe(before + 1);
  });
});

it('a value that a source manages cannot be changed or deleted through the API', async () => {
  const own = api();
  await apply(own, 'managed', groups('managed'));
  const [{ id }] = (await own.call('GET', '/api/groups?name=managed')).body;
  const renamed = await own.call('PUT', `/api/groups/${id}`, { name: 'two' });
  expect([renamed.status, renamed.body.message]).toEqual([409, expect.stringContaining('a.yaml:1')]);
  expect((await own.call('DELETE', `/api/groups/${id}`)).status).toBe(409);
  const [peer = ''] = await own.peers('free');
  expect((await own.call('PUT', `/api/groups/${id}`, { name: 'managed', peers: [peer] })).status).toBe(200);
});
