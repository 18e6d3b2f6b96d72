import { createHmac } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { takeLease } from '../../src/db/leases/leases.ts';
import { recordSource } from '../../src/features/sources/sources.ts';
import { outboundOf } from '../outbound/hosts.ts';
import { temporaryDirectory } from '../setup/database.ts';
import { makeUpstream } from '../sources/git-host.ts';
import { groups } from '../sources/office-source.ts';
import { sharedApi, type TestApi } from './setup.ts';
import { running } from './source-scene.ts';

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

describe('a Git source created over HTTP', () => {
  it('may not name this machine or its networks unless the operator allows it', async () => {
    const { outbound } = outboundOf({ allow: ['10.7.0.0/16'] });
    const transports = ['https', 'ssh'] as const;
    const formerHosts = () => new Set(['127.0.0.9']);
    const { api } = await running([], { outbound, transports, formerHosts });
    const make = async (url: string) => {
      const { status, body } = await api.call('POST', list, { name: 'net', type: 'git', url });
      return status === 422 ? `${body.problems[0].path}: ${body.problems[0].message}` : status;
    };
    const refused = /^\/url: `url`: .* which this server does not connect to for its users; the operator can allow it/;
    for (const host of ['127.0.0.1', '0x7f.1', 'localhost', 'a.localhost', '10.8.0.1', '169.254.169.254:80'])
      expect(await make(`https://${host}/x.git`)).toMatch(refused);
    expect(await make('ssh://git@192.168.1.1:22/x.git')).toMatch(refused);
    expect(await make('git@127.0.0.1:x.git')).toMatch(refused);
    expect(await make('https://10.7.0.1/x.git')).toBe(201);
    await api.call('DELETE', `${list}/net`);
    // A source has used this host since before addresses were checked (`formerHosts`), so the host stays allowed.
    expect(await make('https://127.0.0.9/x.git')).toBe(201);
  });

  it('is unavailable while its host resolves to an address that users may not reach', async () => {
    const { outbound } = outboundOf({ names: { 'git.example.com': ['169.254.169.254'] } });
    const { api } = await running([], { outbound, transports: ['https'] });
    await api.call('POST', list, { name: 'net', type: 'git', url: 'https://git.example.com/x.git' });
    await expect
      .poll(async () => JSON.stringify((await api.call('GET', `${list}/net`)).body.status))
      .toContain('git.example.com has no address that this server connects to for its users');
  });

  it('is followed by the servers, restarted when its settings change, and stopped when it is deleted', async () => {
    const { api, upstream } = await running();
    await upstream.commit({ 'deep/more.yaml': groups('second') });
    const body = { name: 'net', type: 'git', url: upstream.url, path: 'groups.yaml' };
    await api.call('POST', list, body);
    await expect.poll(() => groupNames(api)).toEqual(['All', 'first']);
    await api.call('PUT', `${list}/net`, { url: upstream.url });
    await expect.poll(() => groupNames(api)).toEqual(['All', 'first', 'second']);
    const { status } = (await api.call('GET', `${list}/net`)).body;
    expect(status).toMatchObject({ state: 'applied', lastAppliedCommit: await upstream.git('rev-parse', 'HEAD') });
    await upstream.commit({ 'groups.yaml': groups('first', 'third') });
    expect((await api.call('POST', `${list}/net/reconcile`)).status).toBe(202);
    await expect.poll(() => groupNames(api)).toEqual(['All', 'first', 'second', 'third']);
    await expect
      .poll(async () => (await api.call('GET', `${list}/net`)).body.status.lastHandledReconcileAt)
      .toMatch(/Z$/);
    await api.call('DELETE', `${list}/net`);
    await upstream.commit({ 'groups.yaml': groups('first', 'fourth') });
    await expect.poll(async () => (await leases(api)).length).toBe(0);
    expect(await groupNames(api)).toEqual(['All', 'first', 'second', 'third']);
  });
});

const leases = ({ engine }: TestApi) =>
  engine.database.inAccount('none', []).then(async () => {
    let rows: readonly unknown[] = [];
    await engine.database.asOwner(async (run) => {
      rows = await run('select name from leases');
    });
    return rows;
  });

describe('E132: a webhook hint of a Git host', () => {
  const sign = (body: string, secret: string) => createHmac('sha256', secret).update(body).digest('hex');
  const hook = `${list}/net/webhook`;
  const payload = '{"ref": "refs/heads/main"}';
  const send = (api: TestApi, headers: Readonly<Record<string, string>>, url = hook, body = payload) =>
    api.app.inject({ method: 'POST', url, payload: body, headers: { 'content-type': 'application/json', ...headers } });

  async function followed() {
    const server = await running();
    const { api, upstream, valuesDir } = server;
    await mkdir(join(valuesDir, 'hooks'));
    await writeFile(join(valuesDir, 'hooks/net'), 'hook-secret\n');
    const webhook = { secretFile: 'hooks/net' };
    await api.call('POST', list, {
      name: 'net',
      type: 'git',
      url: upstream.url,
      interval: '24h',
      pollInterval: '24h',
      webhook,
    });
    await expect.poll(() => groupNames(api)).toEqual(['All', 'first']);
    // Only hints later than the newest hint at the start of the loop cause a reconcile, so wait until the loop has
    // started.
    await expect.poll(async () => (await api.call('GET', `${list}/net`)).body.status.state).toBe('applied');
    return server;
  }

  it.each([
    ['GitHub', (secret: string) => ({ 'x-hub-signature-256': `sha256=${sign(payload, secret)}` })],
    ['Gitea', (secret: string) => ({ 'x-gitea-signature': sign(payload, secret) })],
    ['GitLab', (secret: string) => ({ 'x-gitlab-token': secret })],
  ])('of %s starts a reconciliation when its secret is right', async (_, headersWith) => {
    const { api, upstream } = await followed();
    await upstream.commit({ 'groups.yaml': groups('first', 'hinted') });
    const wrong = await send(api, headersWith('guess'));
    expect([wrong.statusCode, wrong.json().message]).toEqual([
      401,
      'the webhook request is not signed with the secret of this source',
    ]);
    const right = await send(api, headersWith('hook-secret'));
    expect([right.statusCode, right.json()]).toEqual([202, {}]);
    await expect.poll(() => groupNames(api)).toEqual(['All', 'first', 'hinted']);
  });

  it('is refused with the same 401 for an unknown source, a source without hints, and a changed body', async () => {
    const { api } = await followed();
    await api.call('POST', list, { name: 'quiet', type: 'push' });
    const good = { 'x-hub-signature-256': `sha256=${sign(payload, 'hook-secret')}` };
    const answers = [
      await send(api, good, `${list}/nobody/webhook`),
      await send(api, good, `${list}/quiet/webhook`),
      await send(api, good, `${hook}?account=other`),
      await send(api, good, hook, '{"ref": "refs/heads/evil"}'),
      await send(api, {}),
      await send(api, { 'x-hub-signature-256': 'sha256=' }),
    ];
    expect(new Set(answers.map(({ statusCode, body }) => `${statusCode} ${body}`)).size).toBe(1);
    expect(answers[0]?.statusCode).toBe(401);
  });

  it('is recorded once when it is sent 100 times, and its content is ignored', async () => {
    const { api } = await followed();
    const before = await api.revision();
    const body = '{"ref": "refs/heads/evil", "repository": {"url": "https://evil.example.com"}, "commits": [';
    const headers = { 'x-hub-signature-256': `sha256=${sign(body, 'hook-secret')}`, 'content-type': 'text/plain' };
    const answers = await Promise.all(Array.from({ length: 100 }, () => send(api, headers, hook, body)));
    expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([202]));
    const hinted = async () => {
      let sources: readonly unknown[] = [];
      await api.engine.database.asOwner(async (run) => {
        sources = await run('select id from sources where hinted_at is not null');
      });
      return sources;
    };
    // The answer is sent before the hint is recorded.
    await expect.poll(hinted).toEqual([{ id: 'net' }]);
    expect(await api.revision()).toBe(before);
    expect((await api.call('GET', `${list}/net`)).body.status.state).toBe('applied');
    const large = await send(api, headers, hook, 'x'.repeat(6 * 1024 * 1024));
    expect(large.statusCode).toBe(413);
  });

  it('is accepted for a source of the server configuration too', async () => {
    const directory = await temporaryDirectory();
    const secretFile = join(directory, 'secret');
    await writeFile(secretFile, 'of-the-file');
    const upstream = await makeUpstream({ 'groups.yaml': groups('stated') });
    const slow = { interval: '24h', pollInterval: '24h' };
    const { api } = await running([{ name: 'net', type: 'git', url: upstream.url, ...slow, webhook: { secretFile } }]);
    await expect.poll(() => groupNames(api)).toEqual(['All', 'stated']);
    await expect.poll(async () => (await api.call('GET', `${list}/net`)).body.status.state).toBe('applied');
    await upstream.commit({ 'groups.yaml': groups('stated', 'hinted') });
    const answer = await send(api, { 'x-gitlab-token': 'of-the-file' }, `${hook}?account=${api.account}`);
    expect(answer.statusCode).toBe(202);
    await expect.poll(() => groupNames(api)).toEqual(['All', 'hinted', 'stated']);
    expect(JSON.stringify((await api.call('GET', `${list}/net`)).body)).not.toContain(secretFile);
  });
});
