import type { Engine } from '../../commit/engine.ts';
import type { Meters } from './meters.ts';

/** How often the event loop is looked at, in milliseconds. */
const stepMs = 100;

/** A loop that stood still for longer counts as if it had for this long, in milliseconds. */
const longestMs = 60_000;

/** What the metrics of the process are about. */
export interface Build {
  readonly version: string;
}

/** Follows the process and its connections to the database; what it returns notes how they are now, and ends that. */
export function watchProcess(meters: Meters, engine: Pick<Engine, 'database' | 'planEnvironment'>, build: Build) {
  const { database, planEnvironment } = engine;
  const labels = { ...build, edition: planEnvironment.edition, database: database.engine, node: process.version };
  meters.set('heddle_build_info', 1, labels);
  const stop = watchEventLoop((seconds) => meters.observe('heddle_event_loop_delay_seconds', seconds));
  let noted = { active: 0, cpu: 0 };
  return {
    note(): void {
      const cpu = process.cpuUsage();
      const now = {
        active: performance.eventLoopUtilization().active / 1000,
        cpu: (cpu.user + cpu.system) / 1e6,
      };
      meters.count('heddle_event_loop_busy_seconds_total', {}, Math.max(0, now.active - noted.active));
      meters.count('heddle_process_cpu_seconds_total', {}, Math.max(0, now.cpu - noted.cpu));
      noted = now;
      meters.set('heddle_process_resident_memory_bytes', process.memoryUsage.rss());
      const pool = database.pool?.();
      if (pool === undefined) return;
      meters.set('heddle_database_connections', pool.busy, { state: 'busy' });
      meters.set('heddle_database_connections', pool.idle, { state: 'idle' });
      meters.set('heddle_database_connections_max', pool.most);
      meters.set('heddle_database_waiting', pool.waiting);
    },
    stop,
  };
}

/** Reports again and again how late the event loop is, in seconds. Returns what ends that. */
export function watchEventLoop(report: (seconds: number) => void): () => void {
  let due = performance.now() + stepMs;
  const timer = setInterval(() => {
    const now = performance.now();
    // What came due while the loop stood still waited as well, each for less than the one before.
    for (let late = Math.max(0, Math.min(longestMs, now - due)); late >= 0; late -= stepMs) report(late / 1000);
    due = now + stepMs;
  }, stepMs);
  timer.unref();
  return () => clearInterval(timer);
}
