import { join } from 'node:path';
import { emptyDatabase, temporaryDirectory } from '../setup/database.ts';
import { serveHeddle } from '../setup/heddle.ts';
import { type Gauge, readGauge } from './hostile/gauge-reader.ts';

/** Starts a server in a separate process. It reports its use of resources since the previous query. */
export async function serveGauged(token: string) {
  const [url, dataDir] = [await emptyDatabase(), await temporaryDirectory()];
  const socket = join(dataDir, 'gauge');
  const env = {
    HEDDLE_BOOTSTRAP_TOKEN: token,
    HEDDLE_SECRET_KEY: Buffer.alloc(32, 5).toString('base64'),
    HEDDLE_PLAN_RATE_LIMIT: 'off',
    HEDDLE_TEST_GAUGE: socket,
    NODE_OPTIONS: `--import=${new URL('hostile/gauge.ts', import.meta.url).href}`,
  };
  const server = await serveHeddle(['--database-url', url, '--data-dir', dataDir], { env });
  return { server, database: url, gauge: (): Promise<Gauge> => readGauge(socket) };
}
