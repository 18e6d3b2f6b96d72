import { rmSync } from 'node:fs';
import { basename } from 'node:path';
import { processesOf } from './run-processes.ts';

/**
 * Run as a process of its own beside a test run, whose id and directory of files are its arguments: when standard input
 * ends, because the run has ended in whatever way, it kills the processes that the run started and left behind, and removes
 * its files.
 */
const [run = '', directory = ''] = process.argv.slice(2);
if (!/^[\w-]{8,}$/.test(run)) throw new Error('the id of a test run is missing');
process.stdin.resume().on('end', () => {
  for (const { pid } of processesOf(run)) kill(pid);
  // What was killed may still be writing.
  if (/^heddle-run-\w+$/.test(basename(directory)))
    rmSync(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
});

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
}
