import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bindToHost } from '../../src/features/sources/credential-hosts.ts';
import { parseGrant, type ValueGrant } from '../../src/model/schema/value-policy.ts';
import { outboundOf } from '../outbound/hosts.ts';
import { openedSpec } from '../setup/opened.ts';
import { makeUpstream, serveHttps } from '../sources/git-host.ts';
import { doc } from './documents.ts';
import { type TestApi, testApi } from './setup.ts';
import { type Running, running } from './source-scene.ts';

const list = '/api/config/sources';
const secret = 'a secret of the operator';
const vendor = doc(
  'EdrVendorB',
  'vendor-b',
  'client_id: c\ntenant_id: t\ngroups: []\nlast_synced_interval: 24\nsecret: { valueFrom: { envRef: HEDDLE_VALUE_B } }',
);
const granted = (...texts: readonly string[]): readonly ValueGrant[] =>
  texts.map((text) => parseGrant(text) ?? { account: '', source: '', value: text });

const statusOf = async (api: TestApi, name: string) =>
  JSON.stringify((await api.call('GET', `${list}/${name}`)).body.status);
const hasSecret = async ({ engine, account }: TestApi) => {
  const [object] = (await engine.snapshots.fresh(account)).ofKind('EdrVendorB');
  return object !== undefined && openedSpec(engine, account, object)['secret'] === secret;
};

/** Creates a source whose document names a value of the server. */
async function apply({ api, upstream }: Running): Promise<void> {
  await upstream.commit({ 'groups.yaml': null, 'edr.yaml': vendor });
  await api.call('POST', list, { name: 'net', type: 'git', url: upstream.url });
}

describe('values of the server', () => {
  const values = { api: { valueFrom: () => secret } };

  it("are available to documents of the operator's account", async () => {
    const scene = await running([], values);
    await apply(scene);
    await expect.poll(() => hasSecret(scene.api)).toBe(true);
  });

  it('are refused to documents of other accounts, also for a source in the server configuration', async () => {
    const { url } = await makeUpstream({ 'edr.yaml': vendor });
    // The server's settings declare this source for the account.
    const { api } = await running([{ name: 'own', type: 'git', url }], { ...values, isOperators: false });
    await expect
      .poll(() => statusOf(api, 'own'))
      .toMatch(/not set, or not allowed: .*HEDDLE_VALUE_GRANTS must list \w+\/own=env:HEDDLE_VALUE_B/);
    expect(await hasSecret(api)).toBe(false);
    const refused = await api.call('POST', list, { name: 'net', type: 'git', url });
    expect([refused.status, refused.body.problems[0].path]).toEqual([422, '/url']);
  });

  it('are available to a source of another account that a grant names', async () => {
    const grants: ValueGrant[] = [];
    const { url } = await makeUpstream({ 'edr.yaml': vendor });
    const stated = [{ name: 'own', type: 'git', url }] as const;
    const { api } = await running(stated, { ...values, isOperators: false, grants });
    await expect.poll(() => statusOf(api, 'own')).toContain('not allowed');
    grants.push(...granted(`${api.account}/other=env:HEDDLE_VALUE_B`, `${api.account}/own=env:HEDDLE_VALUE_C`));
    await api.call('POST', `${list}/own/reconcile`);
    expect(await hasSecret(api)).toBe(false);
    grants.push(...granted(`${api.account}/own=env:HEDDLE_VALUE_B`));
    await api.call('POST', `${list}/own/reconcile`);
    await expect.poll(() => hasSecret(api)).toBe(true);
  });

  it('are refused to pushes of another account, also where pushes may name them', async () => {
    const push = { source: 'own', files: [{ path: 'edr.yaml', text: vendor }] };
    const grants: ValueGrant[] = [];
    const { api } = await running([], { ...values, shareValues: true, isOperators: false, grants });
    grants.push(...granted(`${api.account}/own=env:HEDDLE_VALUE_B`, `${api.account}/*=env:HEDDLE_VALUE_B`));
    const refused = await api.call('POST', '/api/config/apply', push);
    expect([refused.status, refused.body.problems[0].code]).toEqual([422, 'secret_unset']);
  });
});

describe('a credential of a Git source', () => {
  const names = { localhost: ['127.0.0.1'], 'evil.example.com': ['127.0.0.1'] };

  /**
   * Starts a server with a file in its directory of values, and a Git host that requires the content of this file as
   * its password.
   */
  async function withFile(options: Parameters<typeof running>[1] = {}) {
    const { outbound } = outboundOf({ names, allow: ['localhost', 'evil.example.com'] });
    const scene = await running([], { outbound, transports: ['https'], ...options });
    const host = await serveHttps(scene.upstream, secret);
    await writeFile(join(scene.valuesDir, 'token'), secret);
    const make = (name: string, url: string) =>
      scene.api.call('POST', list, {
        ...{ name, type: 'git', url },
        credentials: { username: 'ana', passwordFile: 'token' },
      });
    return { ...scene, host, make };
  }

  it("is bound, in the operator's account, to the host where it was used first", async () => {
    const environment = { PATH: process.env['PATH'] ?? '' };
    const scene = await withFile({ environment });
    const { api, host, make } = scene;
    Object.assign(environment, { GIT_SSL_CAINFO: host.authority });
    await make('net', host.url);
    await expect.poll(() => statusOf(api, 'net')).toContain('"applied"');
    const asked = host.asked.length;
    await api.call('DELETE', `${list}/net`);
    await make('evil', host.url.replace('localhost', 'evil.example.com'));
    await expect
      .poll(() => statusOf(api, 'evil'))
      .toContain('token is a credential for localhost, where it was first used, and is not sent to evil.example.com');
    expect(host.asked.length).toBe(asked);
  });

  it('is bound before a host receives it, and stays bound when that host refuses it', async () => {
    const environment = { PATH: process.env['PATH'] ?? '' };
    const { api, host, valuesDir, make } = await withFile({ environment });
    Object.assign(environment, { GIT_SSL_CAINFO: host.authority });
    // Simulates a host that collects passwords and accepts none.
    await writeFile(join(valuesDir, 'token'), 'not what it wants');
    await make('taker', host.url);
    await expect.poll(() => statusOf(api, 'taker')).toContain('Authentication failed');
    await make('net', host.url.replace('localhost', 'evil.example.com'));
    await expect.poll(() => statusOf(api, 'net')).toContain('token is a credential for localhost');
  });

  it('is bound to a single host by two sources that use it at once', async () => {
    await using api = await testApi();
    const { engine, account } = api;
    const shown = { account, file: 'token' };
    const both = await Promise.all(['a.example.com', 'b.example.com'].map((host) => bindToHost(engine, shown, host)));
    const [first] = both.map(({ hosts }) => hosts);
    expect(first).toHaveLength(1);
    expect(both.map(({ hosts }) => hosts)).toEqual([first, first]);
  });

  it('is released by a host that never received it, unless another source relied on the binding', async () => {
    await using api = await testApi();
    const { engine, account } = api;
    const shown = { account, file: 'token' };
    await (await bindToHost(engine, shown, 'tpyo.example.com')).release();
    const made = await bindToHost(engine, shown, 'git.example.com');
    expect(made.hosts).toEqual(['git.example.com']);
    await (await bindToHost(engine, shown, 'git.example.com')).release();
    await made.release();
    expect((await bindToHost(engine, shown, 'other.example.com')).hosts).toEqual(['git.example.com']);
  });

  it('is sent to the right host after a misspelt one is corrected', async () => {
    const environment = { PATH: process.env['PATH'] ?? '' };
    const { api, host, make } = await withFile({ environment });
    Object.assign(environment, { GIT_SSL_CAINFO: host.authority });
    await make('tpyo', host.url.replace('localhost', 'tpyo.example.com'));
    await expect.poll(() => statusOf(api, 'tpyo')).toContain('cannot be reached');
    await make('net', host.url);
    await expect.poll(() => statusOf(api, 'net')).toContain('"applied"');
  });

  it('is sent, in another account, only to the hosts that the operator grants', async () => {
    const grants: ValueGrant[] = [];
    const environment = { PATH: process.env['PATH'] ?? '' };
    const { api, host, make } = await withFile({ environment, grants, isOperators: false });
    Object.assign(environment, { GIT_SSL_CAINFO: host.authority });
    const refused = await make('net', host.url);
    expect([refused.status, refused.body.problems[0].path]).toEqual([422, '/credentials/passwordFile']);
    expect(refused.body.problems[0].message).toContain(`HEDDLE_VALUE_GRANTS (${api.account}/net=file:token@localhost)`);
    // A grant to use the file in documents does not permit sending its content to a host.
    grants.push(...granted(`${api.account}/net=file:token`));
    expect((await make('net', host.url)).status).toBe(422);
    grants.push(...granted(`${api.account}/net=file:token@localhost`));
    expect((await make('net', host.url.replace('localhost', 'evil.example.com'))).status).toBe(422);
    expect((await make('other', host.url)).status).toBe(422);
    expect((await make('net', host.url)).status).toBe(201);
    await expect.poll(() => statusOf(api, 'net')).toContain('"applied"');
  });

  it('is refused in another account as a webhook secret file and as a file of allowed signers', async () => {
    const { api } = await withFile({ isOperators: false });
    const files = [
      [{ webhook: { secretFile: 'hook' } }, '/webhook/secretFile'],
      [{ verifySignatures: { allowedSignersFile: 'signers' } }, '/verifySignatures/allowedSignersFile'],
    ] as const;
    for (const [more, path] of files) {
      const { status, body } = await api.call('POST', list, {
        ...{ name: 'net', type: 'git', url: 'https://git.example.com/x.git' },
        ...more,
      });
      expect([status, body.problems[0].path]).toEqual([422, path]);
    }
  });
});

describe('a grant of a value', () => {
  it.each([
    ['a1/net=env:HEDDLE_VALUE_B', { account: 'a1', source: 'net', value: 'env:HEDDLE_VALUE_B' }],
    ['a1/k8s/team=file:dir/x', { account: 'a1', source: 'k8s/team', value: 'file:dir/x' }],
    ['a1/*=file:x@Git.Example.com', { account: 'a1', source: '*', value: 'file:x', host: 'git.example.com' }],
    ['a1=env:HEDDLE_VALUE_B', undefined],
    ['a1/net=env:PATH', undefined],
    ['a1/net=env:HEDDLE_VALUE_B@h', undefined],
    ['a1/net=HEDDLE_VALUE_B', undefined],
  ])('is parsed or refused: %s', (text, expected) => {
    expect(parseGrant(text)).toEqual(expected);
  });
});

it('an account may have a limited number of Git sources, and deleting one makes room', async () => {
  const { api, upstream } = await running([], { maxGitSources: 2 });
  const make = (name: string) => api.call('POST', list, { name, type: 'git', url: upstream.url });
  expect([(await make('a')).status, (await make('b')).status]).toEqual([201, 201]);
  const refused = await make('c');
  expect([refused.status, refused.body.message]).toEqual([
    409,
    expect.stringMatching(/has 2 Git sources, and the maximum on this server is 2; .* HEDDLE_GIT_SOURCES/),
  ]);
  expect((await api.call('POST', list, { name: 'c', type: 'push' })).status).toBe(201);
  expect((await api.call('DELETE', `${list}/a`)).status).toBe(200);
  expect((await make('d')).status).toBe(201);
});

it('a source created over the API may take up at most 512 MiB of disk', async () => {
  const { api, upstream } = await running();
  const make = (maxSizeMiB: number) =>
    api.call('POST', list, { name: 'net', type: 'git', url: upstream.url, maxSizeMiB });
  const refused = await make(513);
  expect([refused.status, refused.body.problems[0].path]).toEqual([422, '/maxSizeMiB']);
  expect((await make(512)).status).toBe(201);
});
