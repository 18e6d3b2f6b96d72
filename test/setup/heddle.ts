import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { launcherPath } from './bundle.ts';
import { trackProcess } from './processes.ts';
import { serverProcess } from './server-process.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Result of one run of the program: exit code and outputs. */
export interface Run {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/**
 * Options of a child process. `env` is added to the environment of this process, without the `HEDDLE_` variables of
 * this process.
 */
export interface ChildOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly input?: string;
  /** Program to run instead of the checkout, with the user that runs it. */
  readonly program?: Program;
}

/**
 * A copy of the program, with the Node binary and the user that run it. The single executable is both program and Node
 * binary, so `launcher` is `undefined`.
 */
export interface Program {
  readonly node: string;
  readonly launcher: string | undefined;
  readonly user: { readonly uid?: number; readonly gid?: number };
}

/** Runs the program without a terminal until it exits. */
export async function runHeddle(args: readonly string[], options: ChildOptions = {}): Promise<Run> {
  const child = start(args, options);
  let [out, err] = ['', ''];
  child.stdout?.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    err += chunk;
  });
  child.stdin?.end(options.input ?? '');
  const [code] = await once(child, 'close');
  return { code, out, err };
}

/** A server in a separate process. */
export interface ServedHeddle extends AsyncDisposable {
  readonly url: string;
  readonly pid: number;
  /** All log lines so far. */
  readonly lines: readonly string[];
  /**
   * Resolves with the first matching line, starting at line number `from` or at the first line. Throws when the server
   * ends without a match.
   */
  line(pattern: RegExp, from?: number): Promise<string>;
  /** Sends a signal and waits for the process to exit. Returns the exit code, or the signal that ended the process. */
  stop(signal?: NodeJS.Signals): Promise<number | NodeJS.Signals>;
}

/** Options for starting a server. */
interface ServeOptions extends ChildOptions {
  /** Called while the server starts, with a function that waits for a log line. */
  readonly meanwhile?: (line: ServedHeddle['line']) => Promise<void>;
}

/**
 * Starts `heddle serve` on a free port and waits until it serves. Throws with its output when the server exits before
 * that.
 */
export async function serveHeddle(
  args: readonly string[],
  { meanwhile, ...options }: ServeOptions = {},
): Promise<ServedHeddle> {
  const child = start(['serve', '--listen', '127.0.0.1:0', ...args], options);
  child.stdin?.end();
  const lines = collectLines(child);
  const ended = once(child, 'exit');
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    await ended;
    return child.exitCode ?? child.signalCode ?? 'SIGKILL';
  };
  const line: ServedHeddle['line'] = async (pattern, from = 0) => {
    const found = await lines.find(pattern, from);
    if (found === undefined) throw new Error(`no line matches ${pattern}:\n${lines.all.join('\n')}`);
    return found;
  };
  const [ready] = await Promise.all([lines.find(/ serves (http[^\s"]+)/, 0), meanwhile?.(line)]);
  if (ready === undefined) throw new Error(`the server ended: ${lines.all.join('\n')}`);
  return {
    url: / serves (http[^\s"]+)/.exec(ready)?.[1] ?? '',
    pid: child.pid ?? 0,
    lines: lines.all,
    line,
    stop,
    async [Symbol.asyncDispose]() {
      await stop('SIGKILL');
    },
  };
}

function start(args: readonly string[], { env = {}, cwd = root, program }: ChildOptions): ChildProcess {
  const isServer = program === undefined && args[0] === 'serve';
  const { execArgv, env: around } = isServer ? serverProcess() : { execArgv: [], env: process.env };
  const inherited = Object.entries(around).filter(([name]) => !name.startsWith('HEDDLE_'));
  const { node, launcher, user } = program ?? { node: process.execPath, launcher: launcherPath(), user: {} };
  const options = { cwd, env: { ...Object.fromEntries(inherited), ...env }, ...user };
  return trackProcess(spawn(node, [...execArgv, ...(launcher === undefined ? [] : [launcher]), ...args], options));
}

/**
 * Collects the output of the child on stdout and stderr as lines. A search resolves with `undefined` when the child
 * ends without a match.
 */
function collectLines(child: ChildProcess) {
  const all: string[] = [];
  const waiting = new Set<() => void>();
  const wake = () => {
    for (const look of [...waiting]) look();
  };
  let open = 2;
  for (const stream of [child.stdout, child.stderr]) {
    if (stream === null) throw new Error('the child was started without pipes');
    const reader = createInterface(stream);
    reader.on('line', (line) => {
      all.push(line);
      wake();
    });
    reader.on('close', () => {
      open -= 1;
      wake();
    });
  }
  const find = (pattern: RegExp, from: number) =>
    new Promise<string | undefined>((resolve) => {
      const look = () => {
        const found = all.slice(from).find((line) => pattern.test(line));
        if (found === undefined && open > 0) return;
        waiting.delete(look);
        resolve(found);
      };
      waiting.add(look);
      look();
    });
  return { all, find };
}
