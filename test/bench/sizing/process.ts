import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onServer } from '../../setup/sql.ts';

/**
 * Returns the resident memory of a process and its peak since the process started or `forgetPeak` was called, in MB.
 */
export function memoryOf(pid: number): { readonly resident: number; readonly peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const field = (name: string) => (Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) * 1024) / 1e6;
  return { resident: field('VmRSS'), peak: field('VmHWM') };
}

/** Resets the peak memory that the kernel records for a process. */
export function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

/** CPU time that each process has used, in milliseconds, by process id. */
export type CpuTimes = ReadonlyMap<number, number>;

/**
 * Returns the CPU time that was used between two measurements, in milliseconds. Includes processes that started in
 * between, but not processes that ended.
 */
export function cpuBetween(before: CpuTimes, after: CpuTimes): number {
  return [...after].reduce((sum, [pid, used]) => sum + used - (before.get(pid) ?? 0), 0);
}

/** Returns the CPU time that each of these processes has used. Omits processes that have ended. */
export function cpuOf(pids: readonly number[]): CpuTimes {
  return new Map(pids.flatMap((pid) => timeOf(pid)));
}

/** Returns the CPU time that the processes of a local Postgres have used, including its sessions. */
export async function cpuOfPostgres(url: string): Promise<CpuTimes> {
  const [row] = await onServer(url, 'show data_directory');
  const parent = Number(readFileSync(join(String(row?.['data_directory']), 'postmaster.pid'), 'utf8').split('\n')[0]);
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return cpuOf(all.map(Number).filter((pid) => statOf(pid)?.[1] === String(parent)));
}

/** Linux reports CPU time in units of 10 ms. */
const tickMs = 10;

/** Returns the process id and its CPU time, or an empty list when the process has ended. */
function timeOf(pid: number): readonly (readonly [number, number])[] {
  const fields = statOf(pid);
  return fields === undefined ? [] : [[pid, (Number(fields[11]) + Number(fields[12])) * tickMs]];
}

/**
 * Returns the fields of `/proc/PID/stat` after the process name, which may contain spaces: state, parent, and so on.
 */
function statOf(pid: number): readonly string[] | undefined {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return line.slice(line.lastIndexOf(')') + 2).split(' ');
  } catch {
    // The process has ended.
    return undefined;
  }
}
