import { rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

/** What a server says of itself since it was asked last. */
export interface Gauge {
  /** The longest that its event loop was held up, in milliseconds. */
  readonly longest: number;
  /** The most processor time that its main thread took without letting others in between, in milliseconds. */
  readonly busiest: number;
  /** All processor time of its main thread, in milliseconds. */
  readonly busy: number;
  /** The most memory that the process ever had, in bytes. */
  readonly peak: number;
}

// Loaded into a server by `--import`: it answers on a socket how the event loop fares. Its threads load it too.
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
