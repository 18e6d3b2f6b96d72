import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onServer } from '../../setup/sql.ts';

/** What a process holds of the memory of the machine, in MB: now, and at most since it started. */
export function memoryOf(pid: number): { readonly resident: number; readonly peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const field = (name: string) => (Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) * 1024) / 1e6;
  return { resident: field('VmRSS'), peak: field('VmHWM') };
}

/** Lets the most that a process held be counted from now on. */
export function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

/** Milliseconds of processors that each of some processes has used. */
export type CpuTimes = ReadonlyMap<number, number>;

/** What processes used between two moments. What began in between is counted; what ended is not. */
export function cpuBetween(before: CpuTimes, after: CpuTimes): number {
  return [...after].reduce((sum, [pid, used]) => sum + used - (before.get(pid) ?? 0), 0);
}

/** What these processes have used. */
export function cpuOf(pids: readonly number[]): CpuTimes {
  return new Map(pids.flatMap((pid) => timeOf(pid)));
}

/** What the processes of a Postgres of this machine have used, its sessions among them. */
export async function cpuOfPostgres(url: string): Promise<CpuTimes> {
  const [row] = await onServer(url, 'show data_directory');
  const parent = Number(readFileSync(join(String(row?.['data_directory']), 'postmaster.pid'), 'utf8').split('\n')[0]);
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return cpuOf(all.map(Number).filter((pid) => statOf(pid)?.[1] === String(parent)));
}

/** Linux tells programs the time of processors in hundredths of a second. */
const tickMs = 10;

/** Of a process that is over there is nothing. */
function timeOf(pid: number): readonly (readonly [number, number])[] {
  const fields = statOf(pid);
  return fields === undefined ? [] : [[pid, (Number(fields[11]) + Number(fields[12])) * tickMs]];
}

/** What Linux says of a process behind its name, which may hold spaces: its state, its parent, and so on. */
function statOf(pid: number): readonly string[] | undefined {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return line.slice(line.lastIndexOf(')') + 2).split(' ');
  } catch {
    // It ended meanwhile.
    return undefined;
  }
}
