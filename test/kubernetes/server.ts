import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { trackProcess } from '../setup/processes.ts';
import { buildServer } from './build.ts';

/** A running Kubernetes API server with a separate store, without nodes and controllers. */
export interface ApiServer extends AsyncDisposable {
  readonly url: string;
  /** Path of a kubeconfig file for an administrator. The path stays the same when certificates or tokens change. */
  readonly kubeconfig: string;
  /** Certificate that clients must trust, in PEM. */
  readonly authority: string;
  /**
   * Writes a kubeconfig file for the user `reader`, whose permissions are those of roles bound to it. Returns its path.
   */
  kubeconfigFor(user: 'reader'): Promise<string>;
  /** Stops the API server; its store is kept. The default signal is SIGTERM. */
  stop(signal?: NodeJS.Signals): Promise<void>;
  /** Starts the API server again on the same port. */
  start(): Promise<void>;
  /** Compacts the store, which removes all earlier revisions. Kubernetes does this every few minutes. */
  compact(): Promise<void>;
  /**
   * Replaces the certificate and the tokens while the API server is stopped. Without `pair`, the API server generates a
   * certificate at the next start. The kubeconfig file changes only with `writeKubeconfig`.
   */
  renew(pair?: { readonly certificate: string; readonly privateKey: string }): Promise<void>;
  /** Writes the kubeconfig file again, with the current certificate and token. */
  writeKubeconfig(): Promise<void>;
}

/** Options of an API server. */
export interface ApiServerOptions {
  /** Additional flags of kube-apiserver. */
  readonly flags?: readonly string[];
}

/** Starts an API server, and waits until it is ready. */
export async function startApiServer({ flags = [] }: ApiServerOptions = {}): Promise<ApiServer> {
  const binary = await buildServer();
  const directory = await mkdtemp(join(tmpdir(), 'heddle-kube-'));
  const [port, etcdPort] = [await freePort(), await freePortPair()];
  let token = '';
  const writeTokens = async () => {
    token = randomBytes(16).toString('hex');
    const lines = [`${token},admin,admin,"system:masters"`, `of-${token},reader,reader`];
    await writeFile(join(directory, 'tokens.csv'), `${lines.join('\n')}\n`);
  };
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const keyFile = join(directory, 'service-account.key');
  await writeFile(keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }));
  await writeTokens();
  const settings = {
    'secure-port': port,
    'bind-address': '127.0.0.1',
    'cert-dir': join(directory, 'certificates'),
    'service-account-issuer': 'https://kubernetes.default.svc',
    'service-account-key-file': keyFile,
    'service-account-signing-key-file': keyFile,
    'service-cluster-ip-range': '10.0.0.0/24',
    'authorization-mode': 'RBAC',
    'token-auth-file': join(directory, 'tokens.csv'),
    'allow-privileged': true,
    profiling: false,
  };
  const args = [
    directory,
    String(etcdPort),
    ...Object.entries(settings).map(([name, value]) => `--${name}=${value}`),
    ...flags,
  ];
  const url = `https://127.0.0.1:${port}`;
  let child: ChildProcess | undefined;
  const start = async () => {
    child = await startProcess({ binary, args, directory, url, token });
  };
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    const running = child;
    child = undefined;
    if (running === undefined || running.exitCode !== null || running.signalCode !== null) return;
    running.kill(signal);
    await once(running, 'exit');
  };
  await start();
  const certificates = join(directory, 'certificates');
  const readAuthority = () => readFile(join(certificates, 'apiserver.crt'), 'utf8');
  const kubeconfig = join(directory, 'kubeconfig');
  const writeKubeconfig = async () => writeFile(kubeconfig, kubeconfigOf(url, await readAuthority(), token));
  await writeKubeconfig();
  const authority = await readAuthority();
  return {
    ...{ url, kubeconfig, authority, start, stop, writeKubeconfig },
    compact: () => compactStore(`http://127.0.0.1:${etcdPort}`),
    async renew(pair) {
      await rm(certificates, { recursive: true });
      await writeTokens();
      if (pair === undefined) return;
      await mkdir(certificates);
      await writeFile(join(certificates, 'apiserver.crt'), pair.certificate);
      await writeFile(join(certificates, 'apiserver.key'), pair.privateKey);
    },
    async kubeconfigFor(user) {
      const file = join(directory, user);
      await writeFile(file, kubeconfigOf(url, await readAuthority(), `of-${token}`));
      return file;
    },
    async [Symbol.asyncDispose]() {
      await stop('SIGKILL');
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Compacts etcd through its HTTP and JSON API. */
async function compactStore(etcd: string): Promise<void> {
  const ask = async (path: string, body: object) => {
    const answer = await fetch(`${etcd}/v3/kv/${path}`, { method: 'POST', body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`etcd answered ${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as { readonly header: { readonly revision: string } };
  };
  const { header } = await ask('range', { key: Buffer.from('/').toString('base64') });
  await ask('compaction', { revision: header.revision, physical: true });
}

interface Command {
  readonly binary: string;
  readonly args: readonly string[];
  readonly directory: string;
  readonly url: string;
  readonly token: string;
}

async function startProcess({ binary, args, directory, url, token }: Command): Promise<ChildProcess> {
  const child = trackProcess(spawn(binary, [...args], { stdio: ['ignore', 'pipe', 'pipe'] }));
  const log = createWriteStream(join(directory, 'log'), { flags: 'a' });
  child.stdout?.pipe(log, { end: false });
  child.stderr?.pipe(log, { end: false });
  while (!(await isReady(url, token))) {
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`the API server ended:\n${(await readFile(join(directory, 'log'), 'utf8')).slice(-4000)}`);
    await delay(100);
  }
  return child;
}

/**
 * Returns whether the API server is ready. Does not verify the certificate, because the API server may only generate it
 * during the start.
 */
function isReady(url: string, token: string): Promise<boolean> {
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer ${token}` };
    const asked = request(`${url}/readyz`, { headers, rejectUnauthorized: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    asked.on('error', () => resolve(false));
    asked.end();
  });
}

function kubeconfigOf(server: string, authority: string, token: string): string {
  const cluster = { server, 'certificate-authority-data': Buffer.from(authority).toString('base64') };
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    clusters: [{ name: 'test', cluster }],
    users: [{ name: 'admin', user: { token } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'admin' } }],
  });
}

async function freePort(): Promise<number> {
  return (await listening(0)).port;
}

/** Returns the first of two consecutive free ports. */
async function freePortPair(): Promise<number> {
  while (true) {
    const port = await freePort();
    const next = await listening(port + 1).catch(() => undefined);
    if (next !== undefined) return port;
  }
}

async function listening(port: number): Promise<{ readonly port: number }> {
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return { port: typeof address === 'object' && address !== null ? address.port : port };
}
