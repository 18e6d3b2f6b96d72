import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { outboundOf, startProxy } from '../outbound/hosts.ts';
import { follow, makeUpstream, serveHttps, type Upstream } from './git-host.ts';
import { temporaryDirectory } from './mount.ts';

type Hosts = Parameters<typeof outboundOf>[0];

/** Reads a source that a user created, from a URL with a password. `text` is `read`, or why it cannot be read. */
async function readAs(url: string, authority: string, hosts: Hosts = {}, password = 's3cret') {
  const passwordFile = join(await temporaryDirectory(), 'password');
  await writeFile(passwordFile, password);
  const { outbound, outcomes, lookups } = outboundOf(hosts);
  const environment = { PATH: process.env['PATH'] ?? '', GIT_SSL_CAINFO: authority };
  const network = { outbound, namedBy: 'user' } as const;
  const origin = await follow({ url, credentials: { username: 'ana', passwordFile } }, { environment, network });
  const found = await origin.fetch();
  return { text: found.ok ? 'read' : found.reason, outcomes, lookups };
}

const here = { names: { localhost: ['127.0.0.1'] }, allow: ['localhost'] };
const upstreamOf = (): Promise<Upstream> => makeUpstream({ 'a.yaml': 'a1' });

describe('a Git source created by a user', () => {
  test('is read over https from an allowed host, and git itself resolves no names', async () => {
    const host = await serveHttps(await upstreamOf(), 's3cret');
    const { text, outcomes, lookups } = await readAs(host.url, host.authority, here);
    expect([text, new Set(outcomes()), new Set(lookups)]).toEqual(['read', new Set(['ok']), new Set(['localhost'])]);
  });

  test.each([
    ['a loopback address', ['127.0.0.1']],
    ['a private address', ['10.0.0.7']],
    ['a link-local address', ['169.254.169.254']],
    ['a unique-local address', ['fd00::1']],
    ['no address at all', []],
  ])('never connects to a name with %s, and its message does not reveal which', async (_, addresses) => {
    const host = await serveHttps(await upstreamOf(), 's3cret');
    const { text } = await readAs(host.url, host.authority, { names: { localhost: addresses } });
    expect(text).toBe(
      `${host.url}: it cannot be reached (localhost has no address that this server connects to for its users; check the name, or let the operator allow it with HEDDLE_OUTBOUND_ALLOW); see whether \`url\` and \`credentials\` are right.`,
    );
    expect(host.asked).toEqual([]);
  });

  test('follows a redirect within its host, as after a rename of the repository', async () => {
    const old = (path: string) => (path.startsWith('/old/') ? path.replace('/old/', '/.git/') : undefined);
    const host = await serveHttps(await upstreamOf(), 's3cret', old);
    const { text } = await readAs(host.url.replace('/.git', '/old'), host.authority, here);
    expect(text).toBe('read');
  });

  test('refuses a redirect to another host, which gets neither a request nor a password', async () => {
    const other = await serveHttps(await upstreamOf(), 's3cret');
    const host = await serveHttps(await upstreamOf(), 's3cret', (path) => `${other.url}${path.replace('/.git', '')}`);
    const { text } = await readAs(host.url, host.authority, here);
    expect(text).toContain(`it redirects to another host, ${new URL(other.url).host}, which is not followed`);
    expect(other.asked).toEqual([]);
  });

  test.each([
    ['without TLS', 'http', /protocol .?http.? (not supported|disabled)/i],
    ['by its address', 'https', /it redirects to another host, 127\.0\.0\.1:\d+, which is not followed/],
  ])('refuses a redirect to this machine %s', async (_, scheme, reason) => {
    const asked: string[] = [];
    const plain = createServer((request, response) => {
      asked.push(request.url ?? '');
      response.end();
    }).listen(0, '127.0.0.1');
    await once(plain, 'listening');
    onTestFinished(() => void plain.close());
    plain.on('connection', () => asked.push('a connection'));
    const address = plain.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const location = (path: string) => `${scheme}://127.0.0.1:${port}${path}`;
    const host = await serveHttps(await upstreamOf(), 's3cret', location);
    const { text } = await readAs(host.url, host.authority, here);
    expect(text).toMatch(reason);
    expect([host.asked.length > 0, asked]).toEqual([true, []]);
  });

  test('refuses a redirect after the first answer, even within its host', async () => {
    const later = (path: string) => (path === '/.git/git-upload-pack' ? '/old/git-upload-pack' : undefined);
    const host = await serveHttps(await upstreamOf(), 's3cret', later);
    expect((await readAs(host.url, host.authority, here)).text).toMatch(
      /error: (RPC failed; )?HTTP 302|returned error: 302/,
    );
  });

  test('uses the proxy of the server, which gets an address and never the password', async () => {
    const host = await serveHttps(await upstreamOf(), 's3cret');
    const proxy = await startProxy();
    const options = { ...here, proxy: { url: proxy.url, exclusions: [], checksHosts: false } };
    expect((await readAs(host.url, host.authority, options)).text).toBe('read');
    expect(new Set(proxy.asked)).toEqual(new Set([`127.0.0.1:${new URL(host.url).port}`]));
    const evil = { ...options, allow: [] };
    expect((await readAs(host.url, host.authority, evil)).text).toContain('no address that this server connects to');
  });

  test('passes no credential of the outbound proxy on a command line', async () => {
    const host = await serveHttps(await upstreamOf(), 's3cret');
    const bin = await temporaryDirectory();
    const git = (await promisify(execFile)('sh', ['-c', 'command -v git'])).stdout.trim();
    await writeFile(
      join(bin, 'git'),
      `#!/bin/sh\necho "$@" >> ${bin}/arguments\necho "$HTTPS_PROXY" >> ${bin}/proxy\nexec ${git} "$@"\n`,
    );
    await chmod(join(bin, 'git'), 0o755);
    const { outbound } = outboundOf(here);
    const environment = { PATH: `${bin}:${process.env['PATH']}`, GIT_SSL_CAINFO: host.authority };
    const origin = await follow({ url: host.url }, { environment, network: { outbound, namedBy: 'user' } });
    await origin.fetch();
    const proxy = (await readFile(join(bin, 'proxy'), 'utf8')).split('\n').find((line) => line.includes('@')) ?? '';
    expect(proxy).toMatch(/^http:\/\/run:[0-9a-f]{48}@127\.0\.0\.1:\d+$/);
    expect(await readFile(join(bin, 'arguments'), 'utf8')).not.toContain(new URL(proxy).password);
  });
});

describe('a Git source over ssh created by a user', () => {
  const ssh = async (
    url: string,
    hosts: Hosts,
    credentials: NonNullable<Parameters<typeof follow>[0]['credentials']> = {},
    namedBy: 'user' | 'operator' = 'user',
  ) => {
    const bin = await temporaryDirectory();
    await mkdir(join(bin, 'seen'));
    await writeFile(join(bin, 'ssh'), `#!/bin/sh\necho "$@" > ${bin}/seen/ssh\nexit 1\n`);
    await chmod(join(bin, 'ssh'), 0o755);
    const { outbound } = outboundOf(hosts);
    const environment = { PATH: `${bin}:${process.env['PATH']}` };
    const more = { environment, network: { outbound, namedBy }, transports: ['ssh'] } as const;
    const origin = await follow({ url, credentials }, more);
    const found = await origin.fetch();
    const seen = await readFile(join(bin, 'seen/ssh'), 'utf8').catch(() => 'never started');
    await stat(bin);
    return { reason: found.ok ? 'read' : found.reason, seen };
  };
  const names = { 'git.example.com': ['93.184.216.34'], 'evil.example.com': ['10.0.0.1'] };

  test('connects to the address that was checked, and verifies the host key by the host name', async () => {
    expect((await ssh('git@git.example.com:x.git', { names })).seen).toContain(
      '-o HostName=93.184.216.34 -o HostKeyAlias=git.example.com -o CheckHostIP=no',
    );
    expect((await ssh('ssh://git@git.example.com:2222/x.git', { names })).seen).toContain(
      '-o HostName=93.184.216.34 -o HostKeyAlias=[git.example.com]:2222',
    );
  });

  const valued = ['IdentitiesOnly', 'IdentityFile', 'IdentityAgent', 'UserKnownHostsFile', 'GlobalKnownHostsFile'];
  /** Returns the first value of each of these options, which is the value that ssh uses. */
  const reported = (seen: string): readonly (string | undefined)[] =>
    valued.map((name) => new RegExp(`-o ${name}=(\\S+)`).exec(seen)?.[1]);

  test('without a key uses no keys, configuration or known hosts of the user that runs the server', async () => {
    const { seen } = await ssh('git@git.example.com:x.git', { names });
    expect(reported(seen)).toEqual(['yes', 'none', 'none', '/dev/null', '/dev/null']);
    expect(seen).toMatch(/^-F \/dev\/null /);
    const knownHostsFile = '/etc/hosts-of-ana';
    const known = await ssh('git@git.example.com:x.git', { names }, { knownHostsFile });
    expect(reported(known.seen)).toEqual(['yes', 'none', 'none', `"${knownHostsFile}"`, '/dev/null']);
  });

  test('with a key offers only that key', async () => {
    const sshKeyFile = join(await temporaryDirectory(), 'key');
    await writeFile(sshKeyFile, 'key');
    const { seen } = await ssh('git@git.example.com:x.git', { names }, { sshKeyFile });
    expect(reported(seen)).toEqual(['yes', expect.stringMatching(/ssh-key"$/), 'none', undefined, undefined]);
  });

  test('has no access to the keys of the machine, which a source of the operator may use', async () => {
    const { seen } = await ssh('git@git.example.com:x.git', { names }, {}, 'operator');
    expect(reported(seen)).toEqual(valued.map(() => undefined));
  });

  test.each(['git@evil.example.com:x.git', 'ssh://git@127.0.0.1/x.git', 'ssh://0x7f.1/x.git'])(
    'starts no ssh to %s',
    async (url) => {
      const { reason, seen } = await ssh(url, { names: { ...names, '0x7f.1': ['127.0.0.1'] } });
      expect(reason).toMatch(/it cannot be reached \(.* this server (connects to|does not connect to) for its users/);
      expect(seen).toBe('never started');
    },
  );
});
