import { readdirSync, readFileSync } from 'node:fs';

/**
 * Run as a process of its own beside a test run, whose id is its argument: when standard input ends, because the run has
 * ended in whatever way, it kills the processes that the run started and left behind. They are known by the variable
 * `TEST_RUN_ID`, which children inherit.
 */
const [run = ''] = process.argv.slice(2);
if (!/^[\w-]{8,}$/.test(run)) throw new Error('the id of a test run is missing');
process.stdin.resume().on('end', () => {
  for (const pid of processesOf(run)) kill(pid);
});

/** Only Linux shows the environment of processes as files; elsewhere none is found. */
function processesOf(run: string): readonly number[] {
  const pids = list('/proc').map(Number).filter(Number.isInteger);
  return pids.filter((pid) => pid !== process.pid && environmentOf(pid).includes(`TEST_RUN_ID=${run}`));
}

function environmentOf(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
  } catch {
    // It has ended meanwhile, or belongs to another user.
    return [];
  }
}

function list(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
}
