import { spawn } from 'node:child_process';
import { Unreadable } from '../files/snapshot.ts';

/** Parameters of a call of git. */
export interface GitCall {
  readonly directory: string;
  readonly args: readonly string[];
  /** Variables in addition to those of every call. */
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly timeoutMs: number;
  /** Maximum size of the standard output, in bytes. */
  readonly outputBytes?: number;
  readonly signal?: AbortSignal;
  /**
   * Called from time to time during the call. Returns why the call must end because it takes up too much, otherwise
   * `undefined`.
   */
  readonly tooMuch?: () => Promise<string | undefined>;
}

/** Result of a call of git. */
export interface GitRun {
  readonly code: number;
  readonly output: Buffer;
  /** The relevant part of the error output of git. */
  readonly errorText: string;
}

const defaultMaxOutputBytes = 1024 * 1024;
const maxErrorBytes = 64 * 1024;
const supervisionIntervalMs = 200;

/**
 * Settings under which git runs nothing but itself: no configuration except ours, no hooks, helpers, prompts or
 * submodules, and no protocol that was not allowed.
 */
const safetySettings: readonly string[] = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.askPass=',
  'credential.helper=',
  'fetch.recurseSubmodules=false',
  'submodule.recurse=false',
  'gc.auto=0',
  'maintenance.auto=false',
  // The first response may redirect within its host, as hosts do for repositories that were renamed. Later responses
  // may not.
  'http.followRedirects=initial',
  'http.lowSpeedLimit=1000',
  'http.lowSpeedTime=30',
  'advice.detachedHead=false',
];

/**
 * Runs git and waits for its end. Throws `Unreadable` when git is not installed, takes too long, or takes up too much.
 */
export async function runGit(call: GitCall, environment: Readonly<Record<string, string>>): Promise<GitRun> {
  const args = [...safetySettings.flatMap((setting) => ['-c', setting]), ...call.args];
  const child = spawn('git', args, {
    cwd: call.directory,
    env: {
      ...environment,
      // Configuration of the machine or of a user does not apply.
      HOME: call.directory,
      XDG_CONFIG_HOME: call.directory,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_TERMINAL_PROMPT: '0',
      GIT_ASKPASS: 'true',
      SSH_ASKPASS: 'true',
      GIT_PROTOCOL_FROM_USER: '0',
      GIT_NO_REPLACE_OBJECTS: '1',
      LC_ALL: 'C',
      ...call.env,
    },
    // A separate process group: git starts other processes, which must end together with it.
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const ended = new Promise<number>((resolve, reject) => {
    child.on('error', (cause) => reject(notInstalledError(cause)));
    child.on('close', (code) => resolve(code ?? -1));
  });
  let refusal: string | undefined;
  const end = (why: string): void => {
    refusal ??= why;
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) killGroup(child.pid);
  };
  const stop = supervise(call, end);
  const [out, error] = [gather(call.outputBytes ?? defaultMaxOutputBytes, end), gather(maxErrorBytes, () => undefined)];
  child.stdout.on('data', out.take);
  child.stderr.on('data', error.take);
  // It is not an error here when a program ends without reading all of its input.
  child.stdin.on('error', () => undefined);
  child.stdin.end(call.input ?? '');
  try {
    const code = await ended;
    if (refusal !== undefined) throw new Unreadable(refusal);
    return { code, output: out.bytes(), errorText: extractErrors(error.bytes().toString('utf8')) };
  } finally {
    stop();
  }
}

/**
 * Ends the call when its time is over, when it is cancelled, and when it takes up too much. Returns a function that
 * stops the supervision.
 */
function supervise({ timeoutMs, signal, tooMuch }: GitCall, end: (why: string) => void): () => void {
  const timer = setTimeout(() => end(`git took longer than ${timeoutMs / 1000} s.`), timeoutMs);
  const abort = () => end('the server stops.');
  if (signal?.aborted === true) abort();
  signal?.addEventListener('abort', abort);
  let asking = false;
  const watch = setInterval(() => {
    if (asking || tooMuch === undefined) return;
    asking = true;
    tooMuch()
      .then((why) => (why === undefined ? undefined : end(why)))
      // A failed measurement is ignored, because the next one follows.
      .catch(() => undefined)
      .finally(() => {
        asking = false;
      });
  }, supervisionIntervalMs);
  return () => {
    clearTimeout(timer);
    clearInterval(watch);
    signal?.removeEventListener('abort', abort);
  };
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The process has ended on its own by now.
  }
}

function gather(most: number, end: (why: string) => void) {
  const chunks: Buffer[] = [];
  let length = 0;
  return {
    take(chunk: Buffer) {
      length += chunk.length;
      if (length > most) end(`git wrote more than ${most} bytes.`);
      else chunks.push(chunk);
    },
    bytes: () => Buffer.concat(chunks),
  };
}

/** Returns the lines in which git reports what went wrong. */
function extractErrors(text: string): string {
  const lines = text.split('\n').map((line) => line.replace(/[^\x20-\x7e\u00a0-\uffff]/g, ' ').trim());
  const faults = lines.filter((line) => /^(fatal|error|remote|ssh|Host key|Permission)/i.test(line));
  return (faults.length > 0 ? faults : lines.filter((line) => line !== '')).slice(-3).join('; ').slice(0, 500);
}

function notInstalledError(cause: Error & { readonly code?: string }): Error {
  if (cause.code !== 'ENOENT') return cause;
  return new Unreadable('the program git is not installed on this server; install it.', { cause });
}
