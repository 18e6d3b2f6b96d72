import { readdirSync, readFileSync } from 'node:fs';

/** A process that a test run started, or one of its processes did. */
export interface RunProcess {
  readonly pid: number;
  /** How it was called, its arguments separated by spaces. */
  readonly command: string;
}

/**
 * The processes of a run other than this one, by the variable `TEST_RUN_ID`, which children inherit. Only Linux shows the
 * environment of processes as files; elsewhere none is found.
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
