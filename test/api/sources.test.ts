import { describe, expect, it } from 'vitest';
import { takeLease } from '../../src/db/leases/leases.ts';
import { recordSource } from '../../src/features/sources/sources.ts';
import { groups } from '../sources/office-source.ts';
import { sharedApi, type TestApi } from './setup.ts';

const list = '/api/config/sources';
const server = { type: 'source', id: 'office', name: 'office' } as const;

const push = (api: TestApi, source: string, ...keys: readonly string[]) =>
  api.call('POST', `/api/config/apply?source=${source}`, groups(...keys), {
    'content-type': 'application/yaml',
  });
const groupNames = async (api: TestApi) =>
  (await api.call('GET', '/api/groups')).body.map(({ name }: { name: string }) => name).sort();

describe('sources that are managed over HTTP', () => {
  const shared = sharedApi();

  it('are created, read, changed and deleted, with one revision for each change', async () => {
    const api = shared();
    const body = { name: 'net', type: 'git', url: 'https://git.example.com/net.git', interval: '10m' };
    const made = await api.call('POST', list, body);
    expect([made.status, made.body]).toEqual([
      201,
      {
        ...{ id: 'net', type: 'git', url: body.url, interval: '10m', managedBy: 'api' },
        ...{ suspended: false, generation: 1, status: {}, objects: 0 },
      },
    ]);
    const before = await api.revision();
    const changed = await api.call('PUT', `${list}/net`, { url: body.url, prune: false, exclude: ['ci/'] });
    expect(changed.body).toMatchObject({ prune: false, exclude: ['ci/'], generation: 2 });
    expect(changed.body).not.toHaveProperty('interval');
    await api.call('PUT', `${list}/net`, { url: body.url, prune: false, exclude: ['ci/'] });
    expect(await api.revision()).toBe(before + 1);
    expect((await api.call('GET', `${list}/net`)).body).toEqual(changed.body);
    expect((await api.call('GET', list)).body).toContainEqual(changed.body);
    expect((await api.call('DELETE', `${list}/net`)).body).toEqual({
      revision: null,
      released: 0,
      shared: 0,
      deleted: 0,
      reconciled: [],
    });
    expect((await api.call('GET', `${list}/net`)).status).toBe(404);
  });

  it.each([
    [
      { name: 'a', type: 'directory', path: '/etc' },
      '/type',
      /directories can be declared only in the configuration of a server/,
    ],
    [{ name: 'a', type: 'git' }, '', /`url` is required/],
    [{ name: 'a b', type: 'push' }, '/name', /is not a valid source name/],
    [{ name: 'a', type: 'push', interval: '5m' }, '/interval', /unknown field `interval`/],
    [{ name: 'a', type: 'push', exclude: ['x'] }, '/exclude', /unknown field `exclude`/],
    [{ name: 'a', type: 'git', url: 'https://h/x', exclude: ['x', '[y'] }, '/exclude/1', /without a closing `\]`/],
    [{ name: 'a', type: 'git', url: 'https://h/x', include: ['!x'] }, '/include/0', /write it into `exclude`/],
    [{ name: 'a', type: 'push', scope: { kinds: ['Grup'] } }, '/scope/kinds/0', /did you mean `Group`/],
    [{ name: 'a', type: 'push', limits: { deleteShare: 2 } }, '/limits/deleteShare', /must be at most 1/],
    [
      { name: 'a', type: 'git', url: 'file:///etc' },
      '/url',
      /uses file, which is not in the server setting HEDDLE_GIT_TRANSPORTS/,
    ],
    [
      { name: 'a', type: 'git', url: 'https://h/x', webhook: { secretFile: '/etc/shadow' } },
      '/webhook/secretFile',
      /must be a name in the directory of values of the servers/,
    ],
    [
      { name: 'a', type: 'git', url: 'https://h/x', credentials: { passwordFile: '../k' } },
      '/credentials/passwordFile',
      /must be a name in the directory of values of the servers/,
    ],
  ])('are refused for the body %o', async (body, path, message) => {
    const answer = await shared().call('POST', list, body);
    expect(answer.status).toBe(422);
    expect(answer.body.problems).toEqual([expect.objectContaining({ path, message: expect.stringMatching(message) })]);
  });

  it('have unique names, and cannot change name or type', async () => {
    const api = shared();
    await api.call('POST', list, { name: 'ci', type: 'push' });
    expect((await api.call('POST', list, { name: 'ci', type: 'push' })).body.message).toMatch(/already exists/);
    const renamed = await api.call('PUT', `${list}/ci`, { name: 'other' });
    expect([renamed.status, renamed.body.problems[0].code]).toEqual([422, 'field_fixed']);
    const url = 'https://git.example.com/x.git';
    expect((await api.call('PUT', `${list}/ci`, { type: 'git', url })).body.problems[0].path).toBe('/type');
    expect((await api.call('PUT', `${list}/nobody`, {})).status).toBe(404);
  });

  it('from a server configuration cannot be changed, and can be deleted when no server runs them any more', async () => {
    const api = shared();
    const call = { account: api.account, actor: server };
    await recordSource(api.engine, call, { id: 'office', type: 'directory', spec: { path: 'x', managedBy: 'server' } });
    const request = { account: api.account, name: 'source/office', owner: 'some server', seconds: 30 };
    await takeLease(api.engine.database, request);
    for (const [method, body] of [
      ['PUT', {}],
      ['DELETE', undefined],
    ] as const) {
      const refused = await api.call(method, `${list}/office`, body);
      expect([refused.status, refused.body.message]).toEqual([
        409,
        expect.stringMatching(/named by the configuration of a server \(--source or --config\); .* there/),
      ]);
    }
    await api.engine.database.asOwner(["update leases set until = now() where name = 'source/office'"]);
    expect((await api.call('DELETE', `${list}/office`)).status).toBe(200);
  });

  it('of type push cannot be reconciled, and can be suspended and resumed', async () => {
    const api = shared();
    await push(api, 'laptop', 'pushed');
    const refused = await api.call('POST', `${list}/laptop/reconcile`);
    expect([refused.status, refused.body.message]).toEqual([409, expect.stringContaining('no server reconciles it')]);
    expect((await api.call('POST', `${list}/laptop/suspend`)).body).toMatchObject({ type: 'push', suspended: true });
    expect((await api.call('POST', `${list}/laptop/resume`)).body).toMatchObject({ suspended: false, objects: 1 });
    for (const verb of ['reconcile', 'suspend', 'resume', 'detach'])
      expect((await api.call('POST', `${list}/nobody/${verb}`)).status).toBe(404);
  });

  it('refuse pushes and applies of stored plans while they are suspended', async () => {
    const api = shared();
    await push(api, 'paused', 'paused-1');
    const body = { source: 'paused', files: [{ path: 'a.yaml', text: groups('paused-1', 'paused-2') }] };
    const plan = (await api.call('POST', '/api/config/plans', body)).body;
    await api.call('POST', `${list}/paused/suspend`);
    const before = await api.revision();
    const message =
      'source paused is suspended: nothing of it is applied, and nothing was changed; run `heddle resume paused` to resume it';
    const refused = await push(api, 'paused', 'paused-1', 'paused-2');
    expect([refused.status, refused.body.message]).toEqual([409, message]);
    const planned = await api.call('POST', `/api/config/plans/${plan.id}/apply`);
    expect([planned.status, planned.body.message]).toEqual([409, message]);
    // A plan and a dry run are allowed, because they apply nothing.
    expect((await api.call('POST', '/api/config/plans', body)).body.counts.create).toBe(1);
    expect((await api.call('POST', '/api/config/apply?dryRun=true', body)).status).toBe(200);
    expect(await api.revision()).toBe(before);
    await api.call('POST', `${list}/paused/resume`);
    expect((await api.call('POST', `/api/config/plans/${plan.id}/apply`)).status).toBe(200);
    expect(await groupNames(api)).toContain('paused-2');
  });

  it('release their objects when they are detached: these stay, and can be changed by anyone', async () => {
    const api = shared();
    await push(api, 'team', 'kept-1', 'kept-2');
    const [group] = (await api.call('GET', '/api/groups?name=kept-1')).body;
    expect((await api.call('PUT', `/api/groups/${group.id}`, { name: 'renamed' })).status).toBe(409);
    const detached = await api.call('POST', `${list}/team/detach`);
    expect(detached.body).toMatchObject({ revision: await api.revision(), released: 2, deleted: 0 });
    expect((await api.call('GET', `${list}/team`)).body).toMatchObject({ objects: 0, suspended: true });
    expect((await api.call('PUT', `/api/groups/${group.id}`, { name: 'renamed' })).status).toBe(200);
    expect(await groupNames(api)).toContain('kept-2');
  });

  it('leave their objects when they are deleted, or delete them as far as their guards allow', async () => {
    const api = shared();
    await push(api, 'orphans', 'orphan-1');
    expect((await api.call('DELETE', `${list}/orphans`)).body).toMatchObject({ released: 1, deleted: 0 });
    expect(await groupNames(api)).toContain('orphan-1');
    const names = Array.from({ length: 8 }, (_, at) => `gone-${at}`);
    await push(api, 'temporary', ...names);
    await api.call('PUT', `${list}/temporary`, { onSourceDelete: 'prune' });
    const refused = await api.call('DELETE', `${list}/temporary`);
    expect([refused.status, refused.body.plan.counts.delete]).toEqual([428, 8]);
    expect((await api.call('GET', `${list}/temporary`)).body).toMatchObject({ suspended: false, objects: 8 });
    const { digest } = refused.body.plan;
    expect((await api.call('DELETE', `${list}/temporary?approve=${digest}`)).body).toMatchObject({ deleted: 8 });
    expect((await groupNames(api)).filter((name: string) => name.startsWith('gone-'))).toEqual([]);
    expect((await api.call('GET', `${list}/temporary`)).status).toBe(404);
  });

  it('may have slashes in their names', async () => {
    const api = shared();
    await api.call('POST', list, { name: 'k8s/team-a', type: 'push' });
    expect((await api.call('GET', `${list}/k8s%2Fteam-a`)).body.id).toBe('k8s/team-a');
    expect((await api.call('DELETE', `${list}/k8s%2Fteam-a`)).status).toBe(200);
  });
});
