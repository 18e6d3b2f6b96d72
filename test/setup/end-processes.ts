import { rmSync } from 'node:fs';
import { basename } from 'node:path';
import { processesOf } from './run-processes.ts';

/**
 * Runs as a separate process next to a test run. Its arguments are the id of the run and the directory of its files.
 * When standard input ends, because the run has ended for any reason, the process kills the processes that the run
 * started and left running, and removes the files of the run.
 */
const [run = '', directory = ''] = process.argv.slice(2);
if (!/^[\w-]{8,}$/.test(run)) throw new Error('the id of a test run is missing');
process.stdin.resume().on('end', () => {
  for (const { pid } of processesOf(run)) kill(pid);
  // Killed processes may still be writing, so the removal is retried.
  if (/^heddle-run-\w+$/.test(basename(directory)))
    rmSync(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
});

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has already ended.
  }
}
