import { spawn } from 'node:child_process';
import { Unreadable } from '../files/snapshot.ts';

/** What a call of git needs. */
export interface GitCall {
  readonly directory: string;
  readonly args: readonly string[];
  /** Variables beside those that every call has. */
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly timeoutMs: number;
  /** How much it may write to standard output. */
  readonly outputBytes?: number;
  readonly signal?: AbortSignal;
  /** Asked now and then whether it takes too much; the answer is why. */
  readonly tooMuch?: () => Promise<string | undefined>;
}

/** What a call came to. */
export interface GitRun {
  readonly code: number;
  readonly out: Buffer;
  /** What it said, as far as it is worth telling. */
  readonly said: string;
}

const usualOutputBytes = 1024 * 1024;
const saidBytes = 64 * 1024;
const watchMs = 200;

/**
 * The settings under which git runs nothing but itself: no configuration but ours, no hooks, no helpers, no prompts, no
 * submodules, and no protocol that was not allowed.
 */
const safety: readonly string[] = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.askPass=',
  'credential.helper=',
  'fetch.recurseSubmodules=false',
  'submodule.recurse=false',
  'gc.auto=0',
  'maintenance.auto=false',
  // The first answer may lead on within its host, as hosts do for repositories that were renamed; others may not.
  'http.followRedirects=initial',
  'http.lowSpeedLimit=1000',
  'http.lowSpeedTime=30',
  'advice.detachedHead=false',
];

/** Runs git to its end. Throws `Unreadable` when it is not there, takes too long or too much. */
export async function runGit(call: GitCall, environment: Readonly<Record<string, string>>): Promise<GitRun> {
  const args = [...safety.flatMap((setting) => ['-c', setting]), ...call.args];
  const child = spawn('git', args, {
    cwd: call.directory,
    env: {
      ...environment,
      // Nothing of the machine's or of a user's configuration counts.
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
    // A group of its own: git starts others, who must go with it.
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const ended = new Promise<number>((resolve, reject) => {
    child.on('error', (cause) => reject(missing(cause)));
    child.on('close', (code) => resolve(code ?? -1));
  });
  let refusal: string | undefined;
  const end = (why: string): void => {
    refusal ??= why;
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) killGroup(child.pid);
  };
  const stop = supervise(call, end);
  const [out, error] = [gather(call.outputBytes ?? usualOutputBytes, end), gather(saidBytes, () => undefined)];
  child.stdout.on('data', out.take);
  child.stderr.on('data', error.take);
  // A program that ends without reading all of its input is no fault of ours.
  child.stdin.on('error', () => undefined);
  child.stdin.end(call.input ?? '');
  try {
    const code = await ended;
    if (refusal !== undefined) throw new Unreadable(refusal);
    return { code, out: out.bytes(), said: reportable(error.bytes().toString('utf8')) };
  } finally {
    stop();
  }
}

/** Ends the call when its time is over, when it is cancelled, and when it takes too much. */
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
      // What cannot be measured at this moment is measured at the next.
      .catch(() => undefined)
      .finally(() => {
        asking = false;
      });
  }, watchMs);
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
    // It has ended by itself meanwhile.
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

/** The lines in which git says what went wrong. */
function reportable(text: string): string {
  const lines = text.split('\n').map((line) => line.replace(/[^\x20-\x7e\u00a0-\uffff]/g, ' ').trim());
  const faults = lines.filter((line) => /^(fatal|error|remote|ssh|Host key|Permission)/i.test(line));
  return (faults.length > 0 ? faults : lines.filter((line) => line !== '')).slice(-3).join('; ').slice(0, 500);
}

function missing(cause: Error & { readonly code?: string }): Error {
  if (cause.code !== 'ENOENT') return cause;
  return new Unreadable('the program git is not installed on this server; install it.', { cause });
}
