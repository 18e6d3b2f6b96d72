import { setTimeout as delay } from 'node:timers/promises';
import { generateFiles } from '../setup/generate.ts';
import { type LoadResult, startLoadGenerator } from './load.ts';
import type { Benchmark, Row } from './result.ts';
import { operatorToken, request, serve, token } from './served.ts';
import type { Stand } from './stand.ts';

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
  // In a process of its own: this one stands still while it makes the documents and parses the answer.
  using prober = startLoadGenerator();
  const targets = ['/healthz', '/api/accounts'].map(
    (path) => ({ url: server.url, method: 'GET', path, token }) as const,
  );
  const waitsDuring = (work: () => Promise<unknown>): Promise<LoadResult> =>
    prober.runDuring({ type: 'probes', targets, pauseMilliseconds: 2 }, work);
  const files = generateFiles(documents);
  const idle = await waitsDuring(() => delay(2000));
  const planning = await waitsDuring(() => request(server, 'POST', '/api/config/plans', { source: 'bench', files }));
  const committing = await waitsDuring(() => request(server, 'POST', '/api/config/apply', { source: 'bench', files }));
  const reported = (what: string, figure: number): Row => ({ what, figure, unit: 'ms' });
  return [
    reported('longest wait of /healthz and a GET, idle', idle.longest),
    {
      ...reported('… while 50,000 documents are read and planned', planning.longest),
      budget: { is: 'at most', value: 500 },
    },
    reported('… while they are planned, the middle wait', planning.median),
    reported('… while they are read, planned and committed', committing.longest),
  ];
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
