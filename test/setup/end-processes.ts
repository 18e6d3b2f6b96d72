import { processesOf } from './run-processes.ts';

/**
 * Run as a process of its own beside a test run, whose id is its argument: when standard input ends, because the run has
 * ended in whatever way, it kills the processes that the run started and left behind.
 */
const [run = ''] = process.argv.slice(2);
if (!/^[\w-]{8,}$/.test(run)) throw new Error('the id of a test run is missing');
process.stdin.resume().on('end', () => {
  for (const { pid } of processesOf(run)) kill(pid);
});

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
}
