import type { Engine } from '../../commit/engine.ts';
import type { Meters } from './meters.ts';

/** Interval at which the delay of the event loop is measured, in milliseconds. */
const sampleIntervalMs = 100;

/** Maximum delay, in milliseconds. A longer delay is recorded as this one. */
const maxDelayMs = 60_000;

/** Version of the program, for `heddle_build_info`. */
export interface Build {
  readonly version: string;
}

/** Watches the process and its connections to the database. `note` updates the metrics; `stop` ends the watch. */
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
      meters.set('heddle_database_connections_max', pool.max);
      meters.set('heddle_database_waiting', pool.waiting);
    },
    stop,
  };
}

/** Reports the delay of the event loop at regular intervals, in seconds. Returns a function that stops it. */
export function watchEventLoop(report: (seconds: number) => void): () => void {
  let due = performance.now() + sampleIntervalMs;
  const timer = setInterval(() => {
    const now = performance.now();
    // Timers that came due during the delay were late as well, each by `sampleIntervalMs` less than the previous one.
    for (let late = Math.max(0, Math.min(maxDelayMs, now - due)); late >= 0; late -= sampleIntervalMs)
      report(late / 1000);
    due = now + sampleIntervalMs;
  }, sampleIntervalMs);
  timer.unref();
  return () => clearInterval(timer);
}
