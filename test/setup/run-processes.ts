import { readdirSync, readFileSync } from 'node:fs';

/** A process that a test run started, directly or through another of its processes. */
export interface RunProcess {
  readonly pid: number;
  /** The command line, its arguments separated by spaces. */
  readonly command: string;
}

/**
 * Returns the processes of a run other than this one. They are found by the variable `TEST_RUN_ID`, which children
 * inherit. Only Linux shows the environment of processes as files; on other systems the list is empty.
 */
export function processesOf(run: string): readonly RunProcess[] {
  const pids = list('/proc').map(Number).filter(Number.isInteger);
  return pids
    .filter((pid) => pid !== process.pid && wordsOf(pid, 'environ').includes(`TEST_RUN_ID=${run}`))
    .map((pid) => ({ pid, command: wordsOf(pid, 'cmdline').join(' ') }));
}

function wordsOf(pid: number, file: 'cmdline' | 'environ'): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8').split('\0');
  } catch {
    // The process has ended, or belongs to another user.
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
