import { open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { environment } from '../../config.ts';
import { createDirectory } from '../../db/embedded/disk.ts';
import { codeOf } from '../../lib/error-code.ts';
import { isObject } from '../../lib/json.ts';
import { InvalidInput, Unavailable } from '../../model/errors.ts';
import { toWriteError } from '../write-file.ts';

/** A stored sign-in to a server. */
export interface Login {
  readonly email: string;
  /** URL at which tokens are renewed. The next member is the URL at which they are revoked, if there is one. */
  readonly tokenEndpoint: string;
  readonly revocationEndpoint: string | undefined;
  readonly accessToken: string;
  readonly refreshToken: string;
  /** Time at which the access token expires, in milliseconds since 1970. */
  readonly expiresAt: number;
}

/** Logins of the user on this machine, by server, in a file that only the user may read. */
export interface LoginStore {
  readonly path: string;
  read(server: string): Promise<Login | undefined>;
  /**
   * Replaces the login of a server with what `work` returns (`undefined` deletes it), and returns it. A lock keeps the
   * user's other processes out until `work` is done.
   */
  change(server: string, work: (login: Login | undefined) => Promise<Login | undefined>): Promise<Login | undefined>;
}

/** Returns Heddle's directory in the user's configuration directory. */
function ownDirectory(): string {
  const { XDG_CONFIG_HOME: xdg = '', APPDATA: roaming = '' } = environment;
  if (process.platform === 'win32' && roaming !== '') return join(roaming, 'heddle');
  return join(xdg === '' ? join(homedir(), '.config') : xdg, 'heddle');
}

/** Opens the logins in a directory. Without one, uses the user's configuration directory. */
export function openLogins(configDir: string | undefined): LoginStore {
  const directory = configDir ?? ownDirectory();
  const path = join(directory, 'logins.json');
  return {
    path,
    read: async (server) => (await readAll(path))[server],
    async change(server, work) {
      try {
        await createDirectory(directory, 0o700);
        return await withLock(join(directory, 'logins.lock'), async () => {
          const before = await readAll(path);
          const login = await work(before[server]);
          if (login === before[server]) return login;
          const { [server]: _, ...others } = before;
          await writeAll(path, login === undefined ? others : { ...others, [server]: login });
          return login;
        });
      } catch (error) {
        throw toWriteError(
          path,
          error,
          'Sign-ins cannot be stored; HEDDLE_CONFIG_DIR names another directory for them.',
        );
      }
    },
  };
}

type Logins = Readonly<Record<string, Login>>;

async function readAll(path: string): Promise<Logins> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(error) ?? '')) return {};
    const reason = error instanceof Error ? error.message : String(error);
    throw new Unavailable(
      `The sign-ins of this machine cannot be read (${reason}); correct the permissions of the file.`,
      {
        cause: error,
      },
    );
  }
  try {
    const { servers } = JSON.parse(text) as { readonly servers?: unknown };
    // The cast is safe: Heddle wrote the file.
    if (isObject(servers)) return servers as Logins;
  } catch {
    // The file is cut short; the error below reports that.
  }
  throw new InvalidInput(`${path} was not written by \`heddle login\`, or is damaged; remove it and sign in again.`);
}

/** Replaces the file in one step, so that a reader sees either the old text or the new one. */
async function writeAll(path: string, servers: Logins): Promise<void> {
  const draft = `${path}.${process.pid}`;
  await writeFile(draft, `${JSON.stringify({ version: 1, servers }, null, 2)}\n`, { mode: 0o600 });
  await rename(draft, path);
}

const lockTimeoutMs = 15_000;
const staleMs = 20_000;

/**
 * Runs `work` under the lock. A refresh token works only once: of two processes that renew at the same time, the second
 * uses the result of the first.
 */
async function withLock<Value>(lock: string, work: () => Promise<Value>): Promise<Value> {
  const until = Date.now() + lockTimeoutMs;
  while (!(await takeLock(lock))) {
    if (Date.now() > until)
      throw new Unavailable(`Another heddle process holds ${lock}; wait until it ends, or remove the file.`);
    await wait(25);
  }
  try {
    return await work();
  } finally {
    await rm(lock, { force: true });
  }
}

async function takeLock(lock: string): Promise<boolean> {
  try {
    await (await open(lock, 'wx', 0o600)).close();
    return true;
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    const { mtimeMs } = await stat(lock).catch(() => ({ mtimeMs: Date.now() }));
    // The process that created the lock was killed.
    if (Date.now() - mtimeMs > staleMs) await rm(lock, { force: true });
    return false;
  }
}
