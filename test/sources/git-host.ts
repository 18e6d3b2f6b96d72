import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import type { Origin } from '../../src/features/sources/files/origin.ts';
import { type GitOptions, openGit } from '../../src/features/sources/git/git.ts';
import { createGitSlots } from '../../src/features/sources/git/git-slots.ts';
import { operatorPermission } from '../../src/features/sources/permission.ts';
import { emptyAllowList } from '../../src/lib/net/public-address.ts';
import { createOutbound } from '../../src/outbound/outbound.ts';
import { certificate, privateKey } from './https-certificate.ts';
import { temporaryDirectory } from './mount.ts';

const run = promisify(execFile);

/** Environment of every git process here, without the git configuration of the machine. */
const quiet = {
  PATH: process.env['PATH'] ?? '',
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'Ana',
  GIT_AUTHOR_EMAIL: 'ana@example.com',
  GIT_COMMITTER_NAME: 'Ana',
  GIT_COMMITTER_EMAIL: 'ana@example.com',
};

/** A Git repository that a test writes to. */
export interface Upstream {
  readonly directory: string;
  readonly url: string;
  git(...args: readonly string[]): Promise<string>;
  /** Writes files (`null` deletes a file), commits them, and returns the commit. */
  commit(files: Readonly<Record<string, string | null>>, ...args: readonly string[]): Promise<string>;
}

/** Creates a repository with one commit of these files. */
export async function makeUpstream(files: Readonly<Record<string, string>>): Promise<Upstream> {
  const directory = await temporaryDirectory();
  const git = async (...args: readonly string[]) =>
    (await run('git', ['-c', 'protocol.file.allow=always', ...args], { cwd: directory, env: quiet })).stdout.trim();
  await git('init', '--quiet', '--initial-branch=main');
  const commit: Upstream['commit'] = async (changes, ...args) => {
    for (const [name, text] of Object.entries(changes)) {
      const path = join(directory, name);
      await mkdir(dirname(path), { recursive: true });
      if (text === null) await rm(path);
      else await writeFile(path, text);
    }
    await git('add', '--all');
    await git('commit', '--quiet', '--allow-empty', '--message', 'Change', ...args);
    return git('rev-parse', 'HEAD');
  };
  await commit(files);
  return { directory, url: `file://${directory}`, git, commit };
}

/** Opens a repository as a source. Calls `changed` when there may be new commits. */
export async function follow(
  config: GitOptions['config'],
  more: Partial<GitOptions> & { readonly changed?: () => void } = {},
): Promise<Origin & { readonly directory: string; readonly errors: unknown[]; stop(): Promise<void> }> {
  const directory = join(await temporaryDirectory(), 'source');
  const errors: unknown[] = [];
  const { changed = () => undefined, ...options } = more;
  const outbound = createOutbound({ allow: emptyAllowList, userAgent: 'test' });
  onTestFinished(() => outbound.close());
  const origin = openGit({
    ...{ config, directory, transports: ['file', 'https'], environment: { PATH: quiet.PATH }, pollMs: 3_600_000 },
    network: { outbound, namedBy: 'operator' },
    permission: operatorPermission,
    account: 'account',
    slots: createGitSlots(8),
    onError: (error) => errors.push(error),
    ...options,
  });
  const stop = origin.watch(changed);
  onTestFinished(stop);
  const { fetch, peek, watch } = origin;
  return {
    fetch: fetch.bind(origin),
    peek: peek.bind(origin),
    watch: watch.bind(origin),
    ...{ directory, errors, stop },
  };
}

/**
 * Serves a repository over HTTPS to clients that send the password. Returns its URL, the `Authorization` header of each
 * request (`nobody`: none), and the path of the certificate to trust.
 */
export async function serveHttps(
  upstream: Upstream,
  password: string,
  redirect: (path: string) => string | undefined = () => undefined,
) {
  const asked: string[] = [];
  const server = createServer({ cert: certificate, key: privateKey }, (request, response) => {
    asked.push(request.headers.authorization ?? 'nobody');
    const location = redirect(request.url ?? '');
    if (location !== undefined) {
      response.writeHead(302, { location }).end();
      return;
    }
    const expected = `Basic ${Buffer.from(`ana:${password}`).toString('base64')}`;
    if (request.headers.authorization === expected) void answer(upstream, request, response);
    else response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const authority = join(await temporaryDirectory(), 'authority.pem');
  await writeFile(authority, certificate);
  return { url: `https://localhost:${port}/.git`, asked, authority };
}

/** Answers the request with git's own server program, `git http-backend`. */
async function answer(upstream: Upstream, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'https://localhost');
  const child = spawn('git', ['http-backend'], {
    env: {
      ...quiet,
      GIT_PROJECT_ROOT: upstream.directory,
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: url.pathname,
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method ?? 'GET',
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
    },
  });
  request.pipe(child.stdin);
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk) => chunks.push(chunk));
  await once(child, 'close');
  const output = Buffer.concat(chunks);
  const end = output.indexOf('\r\n\r\n');
  const headers = output
    .subarray(0, end)
    .toString('latin1')
    .split('\r\n')
    .map((line) => line.split(': ') as [string, string]);
  const status = Number(headers.find(([name]) => name === 'Status')?.[1].slice(0, 3) ?? 200);
  response.writeHead(status, Object.fromEntries(headers.filter(([name]) => name !== 'Status')));
  response.end(output.subarray(end + 4));
}
