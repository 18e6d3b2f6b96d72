import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Unavailable } from '../../model/errors.ts';

const PREFIX = 'lock-';
const HELD = '.held';
const ATTEMPTS = 20;
// Maximum length of the path of a Unix socket, in bytes. The lowest limit is 103 bytes, on macOS.
const MAX_SOCKET_PATH_BYTES = 100;

/**
 * Locks a data directory for this process, and returns the function that releases the lock.
 *
 * Each process listens on a separate Unix socket in the directory, and then looks for other sockets that accept
 * connections. The socket of a process that has ended refuses connections, however the process ended, so nothing must
 * be cleaned up by hand. Names are never reused, so removing a stale socket cannot hit a new owner. Because every
 * process listens before it looks, at least one of two processes sees the other.
 */
export async function lockDirectory(directory: string): Promise<() => Promise<void>> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const own = join(directory, `${PREFIX}${randomBytes(6).toString('hex')}`);
    const server = await listen(own);
    const others = await findOtherProcesses(directory, own);
    if (others.length === 0) {
      await writeFile(own + HELD, `${process.pid}\n`);
      return () => release(server, own);
    }
    await release(server, own);
    if (others.includes('held')) break;
    // Both processes are only starting: the one with the shorter wait wins.
    await delay(20 + Math.random() * 100);
  }
  throw new Unavailable(
    `The data directory ${directory} is in use by another Heddle. ` +
      'Stop that server, or give this one a different data directory; several servers must share a Postgres instead.',
  );
}

async function findOtherProcesses(directory: string, own: string): Promise<readonly ('held' | 'starting')[]> {
  const names = await readdir(directory);
  const sockets = names.filter((name) => name.startsWith(PREFIX) && !name.endsWith(HELD) && name !== basename(own));
  const live: ('held' | 'starting')[] = [];
  for (const name of sockets) {
    const path = join(directory, name);
    if (await canConnect(path)) live.push(names.includes(name + HELD) ? 'held' : 'starting');
    else await removeLockFiles(path);
  }
  return live;
}

async function listen(path: string): Promise<Server> {
  const server = createServer((connection) => connection.destroy());
  try {
    await withShortPath(
      path,
      (short) =>
        new Promise<void>((done, failed) =>
          server.once('error', failed).listen({ path: short, exclusive: true }, done),
        ),
    );
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Unavailable(`The data directory ${dirname(path)} cannot be locked: ${reason}.`, { cause });
  }
  return server.unref();
}

function canConnect(path: string): Promise<boolean> {
  return withShortPath(
    path,
    (short) =>
      new Promise((done) => {
        const connection = connect(short);
        connection.once('connect', () => {
          connection.destroy();
          done(true);
        });
        // Any other error (no permission, a full queue) means that a server may be listening.
        connection.once('error', (error: NodeJS.ErrnoException) =>
          done(error.code !== 'ECONNREFUSED' && error.code !== 'ENOENT'),
        );
      }),
  );
}

/**
 * Calls `use` with a path that is short enough for a socket. For a longer path, this is a path through a temporary
 * symbolic link to the directory of the socket, which exists only during the call.
 */
async function withShortPath<Value>(path: string, use: (short: string) => Promise<Value>): Promise<Value> {
  if (Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES) return use(path);
  const shortcut = await mkdtemp(join(tmpdir(), 'hdl-'));
  try {
    await symlink(resolve(dirname(path)), join(shortcut, 'd'));
    return await use(join(shortcut, 'd', basename(path)));
  } finally {
    await rm(shortcut, { recursive: true });
  }
}

async function release(server: Server, path: string): Promise<void> {
  // The files are removed before the server closes, because closing unlinks the path that was bound, and that path may
  // lead through a symbolic link that no longer exists.
  await removeLockFiles(path);
  await new Promise<void>((done) => server.close(() => done()));
}

async function removeLockFiles(path: string): Promise<void> {
  await rm(path + HELD, { force: true });
  await rm(path, { force: true });
}
