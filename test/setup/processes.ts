import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { processesOf, type RunProcess } from './run-processes.ts';

const script = fileURLToPath(new URL('./end-processes.ts', import.meta.url));

/**
 * Gives this run an id that its processes inherit, and starts a watcher process. After the run has ended, the watcher
 * kills the processes that are left, and then removes the directory of the run's files.
 */
export function endProcessesWithRun(directory: string): void {
  const run = randomUUID();
  process.env['TEST_RUN_ID'] = run;
  // Detached, and without the run's id: the watcher outlives a killed run for the moment that it needs.
  const { TEST_RUN_ID: _, ...env } = process.env;
  const watcher = spawn(process.execPath, [script, run, directory], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    env,
  });
  watcher.unref();
  // The pipe from this process to the watcher, which closes when this process ends.
  if (watcher.stdin instanceof Socket) watcher.stdin.unref();
}

/**
 * Throws when processes of this run are still running `milliseconds` after its tests have ended. Vitest's own workers
 * are ignored.
 */
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

/** Counts a process as a process of the current test file, until it ends. */
export function trackProcess<Child extends ChildProcess>(child: Child): Child {
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

/** Kills the processes that a test file has left running, and returns their number. */
export function killProcesses(): number {
  const left = [...running];
  for (const child of left) child.kill('SIGKILL');
  running.clear();
  return left.length;
}
