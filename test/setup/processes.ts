import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { processesOf, type RunProcess } from './run-processes.ts';

const script = fileURLToPath(new URL('./end-processes.ts', import.meta.url));

/**
 * Gives this run an id that its processes inherit, and starts the process that kills those left behind when it has ended,
 * and then removes the directory of the run's files.
 */
export function endProcessesWithRun(directory: string): void {
  const run = randomUUID();
  process.env['TEST_RUN_ID'] = run;
  // Not a child that ends with us: it outlives a run that is killed, by the moment that it needs.
  const { TEST_RUN_ID: _, ...env } = process.env;
  const watcher = spawn(process.execPath, [script, run, directory], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    env,
  });
  watcher.unref();
  // A socket of ours to it, which ends when this process does.
  if (watcher.stdin instanceof Socket) watcher.stdin.unref();
}

/** Throws when processes of this run are still there a while after its tests have ended; its workers may be. */
export async function expectNoProcesses(milliseconds = 10_000): Promise<void> {
  const until = performance.now() + milliseconds;
  let left = leftOver();
  while (left.length > 0 && performance.now() < until) {
    await delay(100);
    left = leftOver();
  }
  if (left.length === 0) return;
  const names = left.map(({ pid, command }) => `${pid} ${command.slice(0, 200)}`);
  throw new Error(`the tests left processes behind; end them where they are started:\n${names.join('\n')}`);
}

function leftOver(): readonly RunProcess[] {
  return processesOf(process.env['TEST_RUN_ID'] ?? '-').filter(({ command }) => !/\bvitest\b/.test(command));
}

const running = new Set<ChildProcess>();

/** Counts a process as one of the current test file, until it ends. */
export function trackProcess<Child extends ChildProcess>(child: Child): Child {
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

/** Kills the processes that a file has left behind and returns how many they were. */
export function killProcesses(): number {
  const left = [...running];
  for (const child of left) child.kill('SIGKILL');
  running.clear();
  return left.length;
}
