import { describe, expect, it } from 'vitest';
import { compactHistory } from '../../src/features/config/history/retention.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { rowsOf } from '../commit/office.ts';
import { doc } from './documents.ts';
import { type Answer, type TestApi, testApi } from './setup.ts';

const apply = (api: TestApi, source: string, texts: readonly string[], more: JsonObject = {}) =>
  api.call('POST', '/api/config/apply', { source, files: [{ path: 'a.yaml', text: texts.join('---\n') }], ...more });

const rollBack = (api: TestApi, revision: number, body?: JsonObject): Promise<Answer> =>
  api.call('POST', `/api/config/revisions/${revision}/rollback`, body);

const applyPlan = (api: TestApi, plan: Answer, body: JsonObject = {}): Promise<Answer> =>
  api.call('POST', `/api/config/plans/${plan.body.id}/apply`, body);

const developers = doc('Group', 'developers', 'name: Developers');
const ops = doc('Group', 'ops', 'name: ops');
const web = doc(
  'Policy',
  'web',
  'rules: [{name: r, action: accept, protocol: all, sources: [developers], destinations: [ops]}]',
);

/** Returns one line for each change of a plan. */
const linesOf = (plan: Answer): readonly string[] =>
  plan.body.changes.map(({ action, kind, key }: Record<string, string>) => `${action} ${kind}/${key}`);

describe('a rollback over HTTP', () => {
  it('E111 plans deleted objects back under their ids, and suspends the source when it is applied', async () => {
    await using api = await testApi();
    await apply(api, 'team', [developers, ops, web]);
    const then = await api.revision();
    const [policy] = (await api.call('GET', '/api/policies')).body.filter(
      ({ name }: { name: string }) => name === 'web',
    );
    await apply(api, 'team', [ops, doc('Group', 'more', 'name: more')]);
    const before = await api.revision();
    const plan = await rollBack(api, then);
    expect([plan.status, plan.body.state]).toEqual([201, 'ready']);
    expect(linesOf(plan)).toEqual(['create Group/developers', 'delete Group/more', 'create Policy/web']);
    expect(plan.body.rollback).toEqual({ revision: then, scope: 'sources', suspends: ['team'] });
    expect(await api.revision()).toBe(before);
    const applied = await applyPlan(api, plan);
    expect([applied.status, applied.body.revision]).toEqual([200, before + 1]);
    expect((await api.call('GET', `/api/policies/${policy.id}`)).body).toEqual(policy);
    expect((await api.call('GET', '/api/config/export')).body).toBe(
      (await api.call('GET', `/api/config/export?revision=${then}`)).body,
    );
    const [source] = (await api.call('GET', '/api/config/sources')).body;
    expect(source).toMatchObject({ id: 'team', suspended: true });
    const [revision] = (await api.call('GET', '/api/config/revisions?limit=1')).body;
    expect(revision).toMatchObject({ plan: plan.body.id, rollback: { revision: then, suspends: ['team'] } });
    const events = await rowsOf(
      api.engine.database,
      'select activity_code, meta from audit_events order by id desc limit 1',
    );
    expect(events).toEqual([
      { activity_code: 'config.rollback', meta: { revision: String(then), scope: 'sources', sources: 'team' } },
    ]);
  });

  it('E113 requires one approval before the same documents are applied again', async () => {
    await using api = await testApi();
    await apply(api, 'team', [developers]);
    const then = await api.revision();
    const expected = [doc('Group', 'developers', 'name: Makers')];
    await apply(api, 'team', expected);
    await applyPlan(api, await rollBack(api, then));
    const early = await apply(api, 'team', expected);
    expect([early.status, early.body.message]).toEqual([
      409,
      expect.stringMatching(
        /team is suspended, because revision \d+ rolled back to an earlier state: .*run `heddle resume team` to resume it/,
      ),
    ]);
    await api.call('POST', '/api/config/sources/team/resume');
    const again = await apply(api, 'team', expected);
    expect([again.status, again.body.plan.guards[0].guard]).toEqual([428, 'rollback']);
    expect((await api.call('GET', '/api/groups?name=Developers')).body).toHaveLength(1);
    const approved = await apply(api, 'team', expected, { approve: again.body.plan.digest });
    expect(approved.status).toBe(200);
    expect((await apply(api, 'team', [doc('Group', 'developers', 'name: Others')])).status).toBe(200);
  });

  it('requires no approval for documents that state what was rolled back to', async () => {
    await using api = await testApi();
    await apply(api, 'team', [developers]);
    const then = await api.revision();
    await apply(api, 'team', [doc('Group', 'developers', 'name: Makers')]);
    await applyPlan(api, await rollBack(api, then));
    await api.call('POST', '/api/config/sources/team/resume');
    expect((await apply(api, 'team', [developers])).body).toMatchObject({ revision: null });
    expect((await apply(api, 'team', [doc('Group', 'developers', 'name: Others')])).status).toBe(200);
  });

  it('E112 lists every missing reference, and stores and changes nothing', async () => {
    await using api = await testApi();
    const [one, two] = [await api.group('one'), await api.group('two')];
    const policy = doc(
      'Policy',
      'web',
      'rules: [{name: r, action: accept, protocol: all, sources: [one], destinations: [two]}]',
    );
    await apply(api, 'team', [policy, ops]);
    const then = await api.revision();
    await apply(api, 'team', [ops]);
    for (const id of [one, two]) await api.call('DELETE', `/api/groups/${id}`);
    const refused = await rollBack(api, then);
    expect(refused.status).toBe(409);
    expect(refused.body.problems.map(({ code }: { code: string }) => code)).toEqual(Array(2).fill('reference_missing'));
    expect(JSON.stringify(refused.body.problems)).toMatch(/Group one.*Group two|Group two.*Group one/);
    const all = await rollBack(api, then, { scope: 'all' });
    expect(linesOf(all)).toHaveLength(3);
    expect((await applyPlan(api, all)).status).toBe(200);
    expect((await api.call('GET', `/api/groups/${one}`)).status).toBe(200);
  });

  it('E71 is refused while a name is taken, and works when it is free again', async () => {
    await using api = await testApi();
    await apply(api, 'team', [developers, ops]);
    const then = await api.revision();
    await apply(api, 'team', [ops]);
    const id = await api.group('Developers');
    const refused = await rollBack(api, then);
    expect([refused.status, refused.body.message]).toEqual([409, expect.stringContaining('already exists')]);
    await api.call('DELETE', `/api/groups/${id}`);
    const plan = await rollBack(api, then);
    // The new group takes the name that the plan needs, so the plan is stale.
    await api.group('Developers');
    expect((await applyPlan(api, plan)).status).toBe(412);
  });

  it('is applied, when a guard stops it, with the digest of its plan', async () => {
    await using api = await testApi();
    await apply(api, 'team', [ops]);
    const then = await api.revision();
    const many = Array.from({ length: 8 }, (_, at) => doc('Group', `g${at}`, `name: g${at}`));
    await apply(api, 'team', [ops, ...many]);
    const plan = await rollBack(api, then);
    expect(plan.body.state).toBe('needs_approval');
    expect((await applyPlan(api, plan)).status).toBe(428);
    expect((await applyPlan(api, plan, { approve: plan.body.digest })).status).toBe(200);
  });

  it('leaves other sources running when it is limited to one source', async () => {
    await using api = await testApi();
    await apply(api, 'a', [developers]);
    await apply(api, 'b', [ops]);
    const then = await api.revision();
    await apply(api, 'a', [doc('Group', 'developers', 'name: Makers')]);
    await apply(api, 'b', [doc('Group', 'ops', 'name: Operators')]);
    const plan = await rollBack(api, then, { scope: 'source:a' });
    expect(plan.body).toMatchObject({ source: 'a', rollback: { suspends: ['a'] } });
    expect(linesOf(plan)).toEqual(['update Group/developers']);
    await applyPlan(api, plan);
    expect((await apply(api, 'b', [doc('Group', 'ops', 'name: Ops')])).status).toBe(200);
  });

  it('is refused for an unknown revision (404), an invalid scope (422) and a compacted revision (410)', async () => {
    await using api = await testApi();
    for (const name of ['a', 'b', 'c']) await api.group(name);
    expect((await rollBack(api, 99)).status).toBe(404);
    expect((await rollBack(api, 2, { scope: 'everything' })).status).toBe(422);
    await compactHistory(api.engine, { revisions: 1, days: 0 });
    expect((await rollBack(api, 2)).status).toBe(410);
  });

  it('works on the embedded database, where plans and reads share one connection', async () => {
    await using api = await testApi('embedded');
    await apply(api, 'team', [developers]);
    const then = await api.revision();
    await apply(api, 'team', [ops]);
    const plan = await rollBack(api, then);
    // Other writes commit first, so the plan is made again while the account is locked.
    const [applied] = await Promise.all([applyPlan(api, plan), api.group('meanwhile'), api.group('and again')]);
    expect(applied.status).toBe(200);
    expect((await api.call('GET', '/api/groups?name=Developers')).body).toHaveLength(1);
  });
});
