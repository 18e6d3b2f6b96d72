import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, readdir, readFile, rename, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Fetched, Origin } from '../../src/features/sources/files/origin.ts';
import { withNameCheck } from '../../src/features/sources/files/stated-name.ts';
import { outboundOf } from '../outbound/hosts.ts';
import { follow, makeUpstream, serveHttps } from './git-host.ts';
import { temporaryDirectory } from './mount.ts';
import { groups } from './office-source.ts';

/** Returns the content of a source: its files as `path=text`, or why it cannot be read. */
const shown = (found: Fetched) =>
  found.ok ? found.files.map(({ path, text }) => `${path}=${text}`) : `unavailable: ${found.reason}`;
const read = async (origin: Origin, before?: string) => shown(await origin.fetch({ commit: before }));

async function fileAt(name: string): Promise<string> {
  const path = join(await temporaryDirectory(), name);
  await writeFile(path, '');
  return path;
}

describe('a Git repository', () => {
  test('is read at the commit of its branch: only documents, and only below the path', async () => {
    const upstream = await makeUpstream({
      'config/a.yaml': 'a1',
      'config/below/b.json': 'b1',
      'config/.hidden/c.yaml': 'c1',
      'config/notes.txt': 'n1',
      'other/d.yaml': 'd1',
    });
    const origin = await follow({ url: upstream.url, branch: 'main', path: 'config' });
    expect(await read(origin)).toEqual(['config/a.yaml=a1', 'config/below/b.json=b1']);
    const commit = await upstream.commit({ 'config/a.yaml': 'a2', 'config/below/b.json': null });
    const found = await origin.fetch();
    expect(found).toMatchObject({ ok: true, commit, commitInfo: { author: 'Ana', subject: 'Change' } });
    expect(shown(found)).toEqual(['config/a.yaml=a2']);
    expect(await readdir(origin.directory)).toEqual(['repository']);
  });

  test('describes a commit by its author and subject, each as a printable line of bounded length', async () => {
    const upstream = await makeUpstream({ 'a.yaml': 'a1' });
    const message = `Let \u001b[31mops in ${'x'.repeat(300)}\n\nBecause.`;
    await upstream.git('commit', '--quiet', '--amend', '--message', message, '--author', 'Bo\tSmith <bo@example.com>');
    const found = await (await follow({ url: upstream.url })).fetch();
    const subject = `Let [31mops in ${'x'.repeat(300)}`.slice(0, 200);
    expect(found).toMatchObject({ commitInfo: { author: 'Bo Smith', subject } });
  });

  test.each([
    [{}, ['a.yaml=a1', 'deep/b.yaml=b1']],
    [{ path: '.' }, ['a.yaml=a1', 'deep/b.yaml=b1']],
    [{ path: 'deep/' }, ['deep/b.yaml=b1']],
    [{ path: 'deep/b.yaml' }, ['deep/b.yaml=b1']],
    [{ ref: 'refs/tags/live' }, ['a.yaml=a1', 'deep/b.yaml=b1']],
    [{ path: 'nowhere' }, expect.stringMatching(/has no directory "nowhere"; correct `path`/)],
    [{ branch: 'nowhere' }, expect.stringMatching(/it has no refs\/heads\/nowhere; correct `branch`/)],
  ])('with the settings %o yields %o', async (more, expected) => {
    const upstream = await makeUpstream({ 'a.yaml': 'a1', 'deep/b.yaml': 'b1' });
    await upstream.git('tag', '--annotate', '--message', 'Live', 'live');
    expect(await read(await follow({ url: upstream.url, ...more }))).toEqual(expected);
  });

  test('is unavailable when its copy cannot be created in the data directory', async () => {
    const { url } = await makeUpstream({ 'a.yaml': 'a1' });
    for (const [directory, reason] of [
      ['/proc/heddle/source', 'ENOENT'],
      [join(await fileAt('data'), 'source'), 'ENOTDIR'],
    ] as const)
      expect(await read(await follow({ url }, { directory }))).toMatch(
        new RegExp(`^unavailable: ${url}: a repository cannot be made in the data directory \\(${reason}: `),
      );
  });

  test('E131: keeps its digest after a commit outside the path, and changes it after one inside', async () => {
    const upstream = await makeUpstream({ 'config/a.yaml': 'a1', 'other/b.yaml': 'b1' });
    const origin = await follow({ url: upstream.url, path: 'config' });
    const digestOf = (found: Fetched) => (found.ok ? found.digest : found.reason);
    const first = digestOf(await origin.fetch());
    const commit = await upstream.commit({ 'other/b.yaml': 'b2' });
    const second = await origin.fetch();
    expect([digestOf(second), second.ok && second.commit]).toEqual([first, commit]);
    await upstream.commit({ 'config/a.yaml': 'a2' });
    expect(digestOf(await origin.fetch())).not.toBe(first);
  });

  test('is polled, and reports new commits, its loss and its return', async () => {
    const upstream = await makeUpstream({ 'a.yaml': 'a1' });
    let changes = 0;
    const changed = () => {
      changes += 1;
    };
    const origin = await follow({ url: upstream.url }, { changed, pollMs: 20 });
    await origin.fetch();
    const before = changes;
    await upstream.commit({ 'a.yaml': 'a2' });
    await expect.poll(() => changes).toBeGreaterThan(before);
    expect(await read(origin)).toEqual(['a.yaml=a2']);
    const after = changes;
    await rename(upstream.directory, `${upstream.directory}.away`);
    await expect.poll(() => changes).toBeGreaterThan(after);
    expect(await read(origin)).toMatch(/cannot be reached/);
    await rename(`${upstream.directory}.away`, upstream.directory);
    const gone = changes;
    await expect.poll(() => changes).toBeGreaterThan(gone);
    expect(origin.errors).toEqual([]);
  });
});

describe('E130: a problematic Git repository', () => {
  test('with a rewritten history is read, unless only descendants are accepted', async () => {
    const upstream = await makeUpstream({ 'a.yaml': 'a1' });
    const [any, strict] = [
      await follow({ url: upstream.url }),
      await follow({ url: upstream.url, requireFastForward: true }),
    ];
    const first = await upstream.git('rev-parse', 'HEAD');
    expect(await read(strict)).toEqual(['a.yaml=a1']);
    const second = await upstream.commit({ 'a.yaml': 'a2' });
    await upstream.commit({ 'a.yaml': 'a3' });
    expect(await read(strict, first)).toEqual(['a.yaml=a3']);
    expect(await read(any)).toEqual(['a.yaml=a3']);
    await upstream.git('reset', '--quiet', '--hard', first);
    const rewritten = await upstream.commit({ 'a.yaml': 'b1' });
    expect(await read(any)).toEqual(['a.yaml=b1']);
    expect(await read(strict, second)).toMatch(
      new RegExp(`commit ${rewritten.slice(0, 12)} does not descend from ${second.slice(0, 12)}`),
    );
    const fresh = await follow({ url: upstream.url, requireFastForward: true });
    expect(await read(fresh, second)).toMatch(/does not descend/);
    expect(await read(fresh, first)).toEqual(['a.yaml=b1']);
  });

  test('is unavailable when it cannot be reached, with the reason', async () => {
    const origin = await follow({ url: 'https://127.0.0.1:1/x.git' });
    expect(await read(origin)).toMatch(
      /^unavailable: https:\/\/127\.0\.0\.1:1\/x\.git: it cannot be reached \(127\.0\.0\.1 does not answer \(ECONNREFUSED\)/,
    );
  });

  test('is refused when it is ten times larger than allowed, and nothing of it is kept', async () => {
    const upstream = await makeUpstream({ 'a.yaml': 'a1' });
    const origin = await follow({ url: upstream.url, maxSizeMiB: 1 });
    expect(await read(origin)).toEqual(['a.yaml=a1']);
    await writeFile(join(upstream.directory, 'large.bin'), randomBytes(10 * 1024 * 1024));
    await upstream.commit({});
    expect(await read(origin)).toMatch(/takes up more than 1 MiB; raise `maxSizeMiB`/);
    expect(await readdir(origin.directory)).toEqual([]);
    await upstream.git('reset', '--quiet', '--hard', 'HEAD~1');
    expect(await read(origin)).toEqual(['a.yaml=a1']);
  });

  test('is refused with a symbolic link to a file of the machine, which is never followed', async () => {
    const upstream = await makeUpstream({ 'config/a.yaml': 'a1', 'README.txt': 'r' });
    await symlink('/etc/passwd', join(upstream.directory, 'config/passwd.yaml'));
    await upstream.commit({});
    expect(await read(await follow({ url: upstream.url, path: 'config' }))).toMatch(
      /"passwd\.yaml" is a symbolic link, which is not followed/,
    );
  });

  test('is refused with a symbolic link to a directory, but not with one that can hold no documents', async () => {
    const upstream = await makeUpstream({ 'a.yaml': 'a1' });
    await symlink('a.yaml', join(upstream.directory, 'NOTES.txt'));
    await upstream.commit({});
    const origin = await follow({ url: upstream.url });
    expect(await read(origin)).toEqual(['a.yaml=a1']);
    await symlink('/etc', join(upstream.directory, 'current'));
    await upstream.commit({});
    expect(await read(origin)).toMatch(/"current" is a symbolic link/);
  });

  test('is refused with a submodule below the path, but not with one outside it', async () => {
    const [upstream, other] = [await makeUpstream({ 'config/a.yaml': 'a1' }), await makeUpstream({ 'b.yaml': 'b1' })];
    await upstream.git('submodule', '--quiet', 'add', other.url, 'beside');
    await upstream.commit({});
    const origin = await follow({ url: upstream.url, path: 'config' });
    expect(await read(origin)).toEqual(['config/a.yaml=a1']);
    await upstream.git('submodule', '--quiet', 'add', other.url, 'config/inside');
    await upstream.commit({});
    expect(await read(origin)).toMatch(/"inside" is a submodule, which is not followed/);
  });

  test('is refused with text that is not UTF-8 or a file that is too large, and the file is named', async () => {
    const upstream = await makeUpstream({ 'a.yaml': 'a1' });
    const origin = await follow({ url: upstream.url });
    await writeFile(join(upstream.directory, 'b.yaml'), Buffer.from([0xff, 0xfe]));
    await upstream.commit({});
    expect(await read(origin)).toMatch(/"b\.yaml" is not UTF-8 text/);
    await upstream.commit({ 'b.yaml': null, 'c.yaml': '#'.repeat(4 * 1024 * 1024 + 1) });
    expect(await read(origin)).toMatch(/"c\.yaml" has more than 4 MiB; split it/);
  });

  test('is read without running its hooks, filters and settings', async () => {
    const mark = join(await temporaryDirectory(), 'mark');
    const upstream = await makeUpstream({
      'a.yaml': 'a1',
      '.gitattributes': '*.yaml filter=evil diff=evil',
      '.gitconfig': `[filter "evil"]\n smudge = touch ${mark}\n`,
      '.githooks/post-checkout': `#!/bin/sh\ntouch ${mark}\n`,
    });
    await upstream.git('config', 'core.hooksPath', '.githooks');
    await upstream.git('config', 'filter.evil.smudge', `touch ${mark}`);
    await upstream.git('config', 'uploadpack.packObjectsHook', `touch ${mark};`);
    expect(await read(await follow({ url: upstream.url }))).toEqual(['a.yaml=a1']);
    await expect(stat(mark)).rejects.toThrow('ENOENT');
  });

  test('is not contacted by a protocol that is not allowed', async () => {
    const upstream = await makeUpstream({ 'a.yaml': 'a1' });
    const origin = await follow({ url: upstream.url }, { transports: ['https', 'ssh'] });
    expect(await read(origin)).toMatch(/transport 'file' not allowed/);
  });
});

describe('the credentials of a Git source', () => {
  const credentials = async (password: string) => {
    const passwordFile = join(await temporaryDirectory(), 'password');
    await writeFile(passwordFile, `${password}\n`);
    return { username: 'ana', passwordFile };
  };

  test('are read from a file, sent over https, and appear in no command line, variable or message', async () => {
    const upstream = await makeUpstream({ 'a.yaml': 'a1' });
    const host = await serveHttps(upstream, 's3cret-word');
    const seen = join(await temporaryDirectory(), 'seen');
    // A `git` that records its arguments and environment, and then runs the real git.
    const bin = await temporaryDirectory();
    await writeFile(
      join(bin, 'git'),
      `#!/bin/sh\n{ echo "$@"; env; } >> ${seen}\nexec /usr/bin/env -u x ${realGit} "$@"\n`,
    );
    await chmod(join(bin, 'git'), 0o755);
    const environment = { PATH: `${bin}:${process.env['PATH']}`, GIT_SSL_CAINFO: host.authority };
    const config = { url: host.url, credentials: await credentials('s3cret-word') };
    const origin = await follow(config, { environment });
    expect(await read(origin)).toEqual(['a.yaml=a1']);
    expect(host.asked).toContain(`Basic ${Buffer.from('ana:s3cret-word').toString('base64')}`);
    const reported = await readFile(seen, 'utf8');
    expect(reported).toContain('ls-remote');
    expect(reported).not.toContain('s3cret-word');
    const wrong = await follow({ ...config, credentials: await credentials('other-word') }, { environment });
    const refusal = await read(wrong);
    expect(refusal).toMatch(/cannot be reached \(fatal: Authentication failed/);
    expect(refusal).not.toContain('other-word');
  });

  test('are reported when they cannot be read, and are never prompted for', async () => {
    const upstream = await makeUpstream({ 'a.yaml': 'a1' });
    const host = await serveHttps(upstream, 'word');
    const environment = { PATH: process.env['PATH'] ?? '', GIT_SSL_CAINFO: host.authority };
    expect(await read(await follow({ url: host.url }, { environment }))).toMatch(/cannot be reached/);
    const sshKeyFile = '/nowhere/key';
    expect(await read(await follow({ url: upstream.url, credentials: { sshKeyFile } }))).toMatch(
      /its credentials cannot be read \(ENOENT/,
    );
  });

  test('for ssh are a copy that only the server may read, deleted when git has ended', async () => {
    const bin = await temporaryDirectory();
    const seen = join(bin, 'seen');
    await writeFile(join(bin, 'ssh'), `#!/bin/sh\necho "$@" >> ${seen}\nls -l "$PWD/ssh-key" >> ${seen}\nexit 1\n`);
    await chmod(join(bin, 'ssh'), 0o755);
    const sshKeyFile = join(bin, "key of o'hara");
    await writeFile(sshKeyFile, 'key', { mode: 0o644 });
    const environment = { PATH: `${bin}:${process.env['PATH']}` };
    const config = {
      url: 'git@git.example.com:x.git',
      credentials: { sshKeyFile, knownHostsFile: '/etc/known hosts' },
    };
    const { outbound } = outboundOf({ names: { 'git.example.com': ['93.184.216.34'] } });
    const network = { outbound, namedBy: 'user' } as const;
    const origin = await follow(config, { environment, network, transports: ['ssh'] });
    expect(await read(origin)).toMatch(/cannot be reached/);
    const reported = await readFile(seen, 'utf8');
    expect(reported).toContain('-F /dev/null -o BatchMode=yes -o StrictHostKeyChecking=yes');
    expect(reported).toContain('-o UserKnownHostsFile="/etc/known hosts"');
    expect(reported).toMatch(/-rw-------.*ssh-key/);
    expect(await readdir(origin.directory)).toEqual(['repository']);
  });
});

const run = promisify(execFile);
const realGit = (await run('sh', ['-c', 'command -v git'])).stdout.trim();

test('a Git source that verifies signatures accepts only commits of allowed signers', async () => {
  const keys = await temporaryDirectory();
  for (const name of ['ana', 'eve'])
    await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', join(keys, name)]);
  const allowedSignersFile = join(keys, 'allowed');
  await writeFile(allowedSignersFile, `ana@example.com ${await readFile(join(keys, 'ana.pub'), 'utf8')}`);
  const upstream = await makeUpstream({ 'a.yaml': 'a1' });
  const origin = await follow({ url: upstream.url, verifySignatures: { allowedSignersFile } });
  expect(await read(origin)).toMatch(/is not signed by any of the allowed signers/);
  await upstream.git('config', 'gpg.format', 'ssh');
  const signed = async (name: string, text: string) => {
    await upstream.git('config', 'user.signingkey', join(keys, name));
    await upstream.commit({ 'a.yaml': text }, '--gpg-sign');
    return read(origin);
  };
  expect(await signed('ana', 'a2')).toEqual(['a.yaml=a2']);
  expect(await signed('eve', 'a3')).toMatch(/is not signed by any of the allowed signers/);
});

test('a Git repository is watched again when its source returns to this server', async () => {
  const upstream = await makeUpstream({ 'a.yaml': 'a1' });
  let changes = 0;
  const origin = await follow({ url: upstream.url }, { pollMs: 20 });
  await origin.fetch();
  await origin.stop();
  const stop = origin.watch(() => {
    changes += 1;
  });
  onTestFinished(stop);
  await upstream.commit({ 'a.yaml': 'a2' });
  await expect.poll(() => changes).toBeGreaterThan(0);
  expect(await read(origin)).toEqual(['a.yaml=a2']);
});

test('stopping a Git source ends a git process that waits', async () => {
  const bin = await temporaryDirectory();
  const waits = join(bin, 'waits');
  await writeFile(
    join(bin, 'git'),
    `#!/bin/sh\ncase "$*" in *ls-remote*) touch ${waits}; sleep 1000;; esac\nexec ${realGit} "$@"\n`,
  );
  await chmod(join(bin, 'git'), 0o755);
  const origin = await follow(
    { url: 'https://git.example.com/x.git' },
    { environment: { PATH: `${bin}:${process.env['PATH']}` } },
  );
  const reading = read(origin);
  await expect
    .poll(() =>
      stat(waits).then(
        () => true,
        () => false,
      ),
    )
    .toBe(true);
  await origin.stop();
  expect(await reading).toMatch(/the server stops/);
});

describe('a source of a server', () => {
  test('in a Git repository keeps its configured name, with a warning when heddle.yaml names another source', async () => {
    const { url } = await makeUpstream({ 'mesh/a.yaml': groups('devs'), 'mesh/heddle.yaml': 'source: office\n' });
    const origin = withNameCheck(await follow({ url, path: 'mesh' }), { name: 'local' });
    expect(await origin.fetch()).toMatchObject({
      ok: true,
      warnings: [expect.stringContaining('"mesh/heddle.yaml" names the source office, but it is configured as local')],
    });
  });
});
