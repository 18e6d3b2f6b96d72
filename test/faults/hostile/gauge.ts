import { rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

/** What a server says of itself since it was asked last. */
export interface Gauge {
  /** The longest that its event loop was held up, in milliseconds. */
  readonly longest: number;
  /** The most memory that the process ever had, in bytes. */
  readonly peak: number;
}

// Loaded into a server by `--import`: it answers on a socket how the event loop fares. Its threads load it too.
const path = process.env['HEDDLE_TEST_GAUGE'];
if (isMainThread && path !== undefined) {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const gauge = createServer((_request, response) => {
    const told: Gauge = { longest: delay.max / 1e6, peak: process.resourceUsage().maxRSS * 1024 };
    delay.reset();
    response.end(JSON.stringify(told));
  });
  rmSync(path, { force: true });
  gauge.listen(path).unref();
}
