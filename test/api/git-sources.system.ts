import { createHmac } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { outboundOf } from '../outbound/hosts.ts';
import { temporaryDirectory } from '../setup/database.ts';
import { makeUpstream } from '../sources/git-host.ts';
import { groups } from '../sources/office-source.ts';
import type { TestApi } from './setup.ts';
import { running } from './source-scene.ts';

const list = '/api/config/sources';

const groupNames = async (api: TestApi) =>
  (await api.call('GET', '/api/groups')).body.map(({ name }: { name: string }) => name).sort();

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
