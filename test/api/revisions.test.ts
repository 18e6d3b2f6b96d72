import { describe, expect, it } from 'vitest';
import { compactHistory } from '../../src/features/config/history/retention.ts';
import { addPeers } from '../setup/peers.ts';
import { doc } from './documents.ts';
import { sharedApi, type TestApi, testApi } from './setup.ts';

const apply = (api: TestApi, source: string, text: string) =>
  api.call('POST', '/api/config/apply', { source, files: [{ path: 'a.yaml', text }] });

/** Returns the numbers of the revisions that a query finds. */
const numbers = async (api: TestApi, query: string): Promise<readonly number[]> =>
  (await api.call('GET', `/api/config/revisions?${query}`)).body.map(
    ({ revision }: { readonly revision: number }) => revision,
  );

describe('the list of revisions', () => {
  const shared = sharedApi();

  it('is filtered by source, actor, kind and time', async () => {
    const api = shared();
    const first = (await api.revision()) + 1;
    await api.group('by hand');
    await apply(api, 'team', doc('Group', 'developers', 'name: Developers'));
    await addPeers(api.engine, api.account, ['laptop']);
    expect(await numbers(api, 'source=team')).toEqual([first + 1]);
    expect(await numbers(api, 'source=nobody')).toEqual([]);
    expect(await numbers(api, 'kind=Peer')).toEqual([first + 2]);
    expect(await numbers(api, 'kind=Group&actor=machine%20owner')).toEqual([first + 1, first]);
    expect(await numbers(api, 'actor=test')).toEqual([first + 2]);
    const { body } = await api.call('GET', `/api/config/revisions/${first + 1}`);
    const until = encodeURIComponent(body.created_at);
    expect(await numbers(api, `until=${until}&limit=1`)).toEqual([first]);
    expect(await numbers(api, `since=${until}`)).toEqual([first + 2, first + 1]);
    expect(await numbers(api, 'until=2001-01-01')).toEqual([]);
    expect(body).toMatchObject({ source: 'team', request: expect.stringMatching(/^[0-9a-f-]{36}$/) });
  });

  it('refuses invalid filters', async () => {
    for (const query of ['kind=Grup', 'since=yesterday', 'until=2026-13-01', 'since=2026-02-02&until=2026-02-01']) {
      const answer = await shared().call('GET', `/api/config/revisions?${query}`);
      expect([query, answer.status]).toEqual([query, 422]);
    }
  });

  it('shows the history of one object by its id or its former key, also after its deletion', async () => {
    const api = shared();
    await apply(api, 'one', doc('Group', 'designers', 'name: Designers'));
    await apply(api, 'one', doc('Group', 'designers', 'name: Makers'));
    const [group] = (await api.call('GET', '/api/groups?name=Makers')).body;
    await apply(api, 'one', `${doc('Group', 'others', 'name: Others')}`);
    const ask = async (object: string) =>
      (await api.call('GET', `/api/config/revisions?object=${encodeURIComponent(object)}`)).body;
    const found = await ask('Group/designers');
    expect(found.map(({ changes }: { changes: object[] }) => changes)).toMatchObject([
      [{ action: 'delete', key: 'designers', declared: { stated: [], released: ['one'] } }],
      [{ action: 'update', units: [{ path: 'name', before: 'Designers', after: 'Makers' }] }],
      [{ action: 'create', metadata: { owner: 'one' }, declared: { stated: [{ source: 'one', file: 'a.yaml' }] } }],
    ]);
    expect(await ask(group.id)).toEqual(found);
    expect(await ask('Group/never-was')).toEqual([]);
  });
});

describe('a revision', () => {
  const shared = sharedApi();

  it('shows changes of declarations separately, with names for objects that were deleted since', async () => {
    const api = shared();
    const id = await api.group('Ops');
    const claimed = `${doc('Group', 'ops', 'name: Ops')}---\n${doc('Group', 'gone', 'name: gone')}---\n${doc('Policy', 'p', 'rules: [{name: r, action: accept, protocol: all, sources: [gone], destinations: [ops]}]')}`;
    const made = await apply(api, 'team', claimed);
    await apply(api, 'team', doc('Group', 'ops', 'name: Ops'));
    const { changes } = (await api.call('GET', `/api/config/revisions/${made.body.revision}`)).body;
    const of = (kind: string, name: string) =>
      changes.find((change: { kind: string; name: string }) => change.kind === kind && change.name === name);
    expect(of('Group', 'Ops')).toMatchObject({
      action: 'claim',
      id,
      units: [],
      metadata: { key: 'ops' },
      declared: { stated: [{ source: 'team', line: 1, spec: { name: 'Ops' } }], released: [] },
    });
    // The policy and one of its groups have been deleted by later revisions.
    const rule = of('Policy', 'p').units.find(({ path }: { path: string }) => path === 'rules[r]');
    expect(rule.after).toMatchObject({ sources: ['gone'], destinations: ['ops'] });
  });

  it('E114 shows no secret, neither in values nor in declarations', async () => {
    await using api = await testApi();
    const spec = { ...api.engine.registry.get('EdrVendorD').example, groups: ['All'] };
    const text = JSON.stringify({ apiVersion: 'heddle.dev/v1', kind: 'EdrVendorD', metadata: { name: 'x' }, spec });
    const values = { 'env:HEDDLE_VALUE_EDR_D_CLIENT': 'hunter2', 'env:HEDDLE_VALUE_EDR_D_SECRET': 'hunter2' };
    const made = await api.call('POST', '/api/config/apply', {
      source: 's',
      files: [{ path: 'a.json', text }],
      values,
    });
    expect(made.status).toBe(200);
    const { body } = await api.call('GET', `/api/config/revisions/${await api.revision()}`);
    expect(JSON.stringify(body)).not.toMatch(/hunter2|sealed:/);
    expect(JSON.stringify(body)).toContain('(secret)');
  });

  it('is answered with 410 when it is no longer kept, with the oldest revision that is', async () => {
    await using api = await testApi();
    for (const name of ['a', 'b', 'c']) await api.group(name);
    await compactHistory(api.engine, { revisions: 2, days: 0 });
    const folded = await api.call('GET', '/api/config/revisions/2');
    expect([folded.status, folded.body.message]).toEqual([
      410,
      expect.stringContaining('the history begins at revision 3'),
    ]);
    expect((await api.call('GET', '/api/config/revisions/3')).status).toBe(200);
    expect(await numbers(api, '')).toEqual([4, 3]);
  });
});

describe('an export of an earlier revision', () => {
  it('contains the documents of that revision, also by kind and source', async () => {
    await using api = await testApi();
    await apply(api, 'team', doc('Group', 'developers', 'name: Developers'));
    const then = await api.revision();
    const yaml = (await api.call('GET', '/api/config/export')).body;
    await apply(api, 'team', doc('Group', 'developers', 'name: Makers'));
    await api.group('later');
    expect((await api.call('GET', `/api/config/export?revision=${then}`)).body).toBe(yaml);
    const json = await api.call('GET', `/api/config/export?revision=${then}&kind=Group&source=team&format=json`);
    expect(json.body).toMatchObject([{ metadata: { name: 'developers' }, spec: { name: 'Developers' } }]);
    expect((await api.call('GET', '/api/config/export?revision=99')).status).toBe(404);
    expect((await api.call('GET', '/api/config/export?revision=x')).status).toBe(422);
    await compactHistory(api.engine, { revisions: 1, days: 0 });
    expect((await api.call('GET', `/api/config/export?revision=${then}`)).status).toBe(410);
  });
});
