import { mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { environment } from '../../config.ts';
import { codeOf } from '../../lib/error-code.ts';
import { isObject } from '../../lib/json.ts';
import { InvalidInput, Unavailable } from '../../model/errors.ts';

/** A stored sign-in to a server. */
export interface Login {
  readonly email: string;
  /** Where tokens are renewed and taken back. */
  readonly tokenEndpoint: string;
  readonly revocationEndpoint: string | undefined;
  readonly accessToken: string;
  readonly refreshToken: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

/** The sign-ins of the person at this machine, by server, in a file that only they may read. */
export interface LoginStore {
  readonly path: string;
  read(server: string): Promise<Login | undefined>;
  /** Runs alone among all programs of this person: what it answers takes the place of the login it is given. */
  change(server: string, work: (login: Login | undefined) => Promise<Login | undefined>): Promise<Login | undefined>;
}

/** Where programs keep what is a person's own. */
function ownDirectory(): string {
  const { XDG_CONFIG_HOME: xdg = '', APPDATA: roaming = '' } = environment;
  if (process.platform === 'win32' && roaming !== '') return join(roaming, 'heddle');
  return join(xdg === '' ? join(homedir(), '.config') : xdg, 'heddle');
}

/** Opens the sign-ins in a directory; without one, in the person's own. */
export function openLogins(configDir: string | undefined): LoginStore {
  const directory = configDir ?? ownDirectory();
  const path = join(directory, 'logins.json');
  return {
    path,
    read: async (server) => (await readAll(path))[server],
    async change(server, work) {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      return await alone(join(directory, 'logins.lock'), async () => {
        const before = await readAll(path);
        const login = await work(before[server]);
        if (login === before[server]) return login;
        const { [server]: _, ...others } = before;
        await writeAll(path, login === undefined ? others : { ...others, [server]: login });
        return login;
      });
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
    throw new Unavailable(`The sign-ins of this machine cannot be read (${reason}); correct the rights of the file.`, {
      cause: error,
    });
  }
  try {
    const { servers } = JSON.parse(text) as { readonly servers?: unknown };
    // It is a file of our own.
    if (isObject(servers)) return servers as Logins;
  } catch {
    // Cut short: said below.
  }
  throw new InvalidInput(`${path} is not what \`heddle login\` writes; remove it and sign in again.`);
}

/** In one step, so that a reader sees the old text or the new one. */
async function writeAll(path: string, servers: Logins): Promise<void> {
  const draft = `${path}.${process.pid}`;
  await writeFile(draft, `${JSON.stringify({ version: 1, servers }, null, 2)}\n`, { mode: 0o600 });
  await rename(draft, path);
}

const patienceMs = 15_000;
const staleMs = 20_000;

/** A refresh token works once: of two programs that renew at once, the second one takes what the first one got. */
async function alone<Value>(lock: string, work: () => Promise<Value>): Promise<Value> {
  const until = Date.now() + patienceMs;
  while (!(await takeLock(lock))) {
    if (Date.now() > until) throw new Unavailable(`Another heddle holds ${lock}; wait for it, or remove the file.`);
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
    // The process that made it was killed.
    if (Date.now() - mtimeMs > staleMs) await rm(lock, { force: true });
    return false;
  }
}
