import { request as open } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { generateFiles } from '../setup/generate.ts';
import type { ServedHeddle } from '../setup/heddle.ts';
import type { Benchmark, Row } from './result.ts';
import { operatorToken, request, serve, token } from './served.ts';
import type { Stand } from './stand.ts';
import { median } from './timing.ts';

const documents = 50_000;

/** An account of 50,000 objects: its memory, and whether the server answers other requests while it plans. */
export const large: Benchmark = {
  name: 'large',
  run: async (stand) => {
    const url = await stand.postgres();
    return [...(await answersWhilePlanning(stand, url)), await memory(stand, url)];
  },
};

async function answersWhilePlanning(stand: Stand, url: string): Promise<readonly Row[]> {
  await using server = await serve({ url, dataDir: await stand.directory() });
  const files = generateFiles(documents);
  const idle = await gapsDuring(server, delay(2000));
  const planning = request(server, 'POST', '/api/config/plans', { source: 'bench', files });
  const busy = await gapsDuring(server, planning);
  const applying = request(server, 'POST', '/api/config/apply', { source: 'bench', files });
  const committing = await gapsDuring(server, applying);
  const reported = (what: string, figure: number): Row => ({ what, figure, unit: 'ms' });
  return [
    reported('longest wait of /healthz and a GET, idle', idle.longest),
    {
      ...reported('… while 50,000 documents are read and planned', busy.longest),
      budget: { is: 'at most', value: 500 },
    },
    reported('… while they are planned, the middle wait', busy.middle),
    reported('… while they are read, planned and committed', committing.longest),
  ];
}

/**
 * Sends requests one after another until `work` has ended. Returns the longest and the median time of a request, in
 * milliseconds.
 */
async function gapsDuring(server: ServedHeddle, work: Promise<unknown>) {
  let done = false;
  const finished = work.finally(() => {
    done = true;
  });
  const taken: number[] = [];
  while (!done) {
    for (const path of ['/healthz', '/api/groups']) {
      const start = performance.now();
      await ask(server.url + path);
      taken.push(performance.now() - start);
    }
    await delay(2);
  }
  await finished;
  return { longest: Math.max(...taken), middle: median(taken) };
}

function ask(url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const asking = open(url, { headers: { authorization: `Token ${token}` } }, (response) => {
      response.resume().once('end', resolve);
      if (response.statusCode !== 200) reject(new Error(`${url}: ${response.statusCode}`));
    });
    asking.once('error', reject).end();
  });
}

async function memory(stand: Stand, url: string): Promise<Row> {
  await using server = await serve({ url, dataDir: await stand.directory() });
  // The first request that needs the account loads it.
  await request(server, 'GET', '/api/accounts');
  await delay(3000);
  const metrics = await (
    await fetch(`${server.url}/metrics`, { headers: { authorization: `Bearer ${operatorToken}` } })
  ).text();
  const [, bytes] = /^heddle_process_resident_memory_bytes (\S+)/m.exec(metrics) ?? [];
  return { what: 'memory with 50,000 objects loaded', figure: Number(bytes) / 1e6, unit: 'MB' };
}
