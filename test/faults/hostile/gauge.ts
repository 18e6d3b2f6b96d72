import { rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

/** Resources that a server used since the previous query. */
export interface Gauge {
  /** Longest delay of the event loop, in milliseconds. */
  readonly longest: number;
  /** Longest processor time that the main thread used without a turn for other work, in milliseconds. */
  readonly busiest: number;
  /** Total processor time of the main thread, in milliseconds. */
  readonly busy: number;
  /** Maximum memory of the process since its start, in bytes. */
  readonly peak: number;
}

// Loaded into a server by `--import`. Reports the state of the event loop on a socket. The server's threads load this
// file too.
const path = process.env['HEDDLE_TEST_GAUGE'];
if (isMainThread && path !== undefined) {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  let [busiest, begun] = [0, cpuMilliseconds()];
  let last = begun;
  setInterval(() => {
    const now = cpuMilliseconds();
    busiest = Math.max(busiest, now - last);
    last = now;
  }, 1).unref();
  const gauge = createServer((_request, response) => {
    const now = cpuMilliseconds();
    const held = { longest: delay.max / 1e6, busiest, busy: now - begun };
    const reported: Gauge = { ...held, peak: process.resourceUsage().maxRSS * 1024 };
    delay.reset();
    [busiest, begun] = [0, now];
    response.end(JSON.stringify(reported));
  });
  rmSync(path, { force: true });
  gauge.listen(path).unref();
}

function cpuMilliseconds(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
