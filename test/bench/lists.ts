import { Agent, get } from 'node:http';
import { createEngine } from '../../src/app.ts';
import { openDatabase } from '../../src/db/database.ts';
import { generateGroups, writeFiles } from '../setup/generate.ts';
import type { ServedHeddle } from '../setup/heddle.ts';
import { addPeers } from '../setup/peers.ts';
import type { Benchmark, Row } from './result.ts';
import { request, serve, token } from './served.ts';
import type { Stand } from './stand.ts';
import { inTurns, time } from './timing.ts';

const peers = 20_000;

// A list of groups takes a few milliseconds: one interruption of the machine would change the median of few rounds.
const rounds = { groups: 100, peers: 20 };

/**
 * Lists of 10,000 groups and of 20,000 peers, once after a change and once repeated. Reference: `JSON.stringify` of the
 * same payload.
 */
export const lists: Benchmark = {
  name: 'lists',
  async run(stand) {
    return [...(await measureGroups(stand)), ...(await measurePeers(stand))];
  },
};

async function measureGroups(stand: Stand): Promise<readonly Row[]> {
  const source = await stand.directory();
  await writeFiles(source, [generateGroups(10_000)]);
  await using server = await serve({ url: await stand.postgres(), dataDir: await stand.directory(), source });
  await server.line(/10000 documents, revision/);
  let changes = 0;
  const change = () => request(server, 'POST', '/api/groups', { name: `Change ${++changes}` });
  return await measure(server, '/api/groups', 'list of 10,000 groups over HTTP', rounds.groups, [
    { when: 'first after a change', change, most: 2 },
    { when: 'repeated', change: async () => {}, most: 2 },
  ]);
}

/**
 * Measures the list of peers. The peers are in groups of 50 and have all been connected; a change connects or
 * disconnects one peer.
 */
async function measurePeers(stand: Stand): Promise<readonly Row[]> {
  const url = await stand.postgres();
  await using server = await serve({ url, dataDir: await stand.directory() });
  const { account } = (await request(server, 'GET', '/api/config/status')) as { readonly account: string };
  const database = await openDatabase({ url, poolSize: 1 });
  const engine = createEngine({ database });
  const ids: string[] = [];
  // The peers are added in batches. Between two batches, this process notices connections that the server has closed.
  while (ids.length < peers) {
    const labels = Array.from({ length: 1000 }, (_, at) => `peer-${ids.length + at}`);
    ids.push(...(await addPeers(engine, account, labels)));
  }
  for (let at = 0; at < peers; at += 50)
    await request(server, 'POST', '/api/groups', { name: `Group ${at / 50}`, peers: ids.slice(at, at + 50) });
  const facts = { os: 'linux 6.1', kernel_version: '6.1.0', version: '0.2.0' };
  const note = (peer: string, connected: boolean) =>
    engine.presence.record(account, { peer, connected, stream: peer, server: 'bench', facts });
  await Promise.all(ids.map((peer) => note(peer, true)));
  let changes = 0;
  const rows = await measure(server, '/api/peers', 'list of 20,000 peers over HTTP', rounds.peers, [
    // The ETag alone takes as long as the reference, because 25 MB are hashed.
    { when: 'first after one connected', change: async () => note(ids[0] ?? '', ++changes % 2 === 0), most: 6 },
    { when: 'repeated', change: async () => {}, most: 4 },
  ]);
  await engine.committer.settle();
  await database.close();
  return rows;
}

/** The change before each list, and the maximum ratio of the list's time to the reference. */
interface Case {
  readonly when: string;
  readonly change: () => Promise<unknown>;
  readonly most: number;
}

async function measure(
  server: ServedHeddle,
  path: string,
  what: string,
  count: number,
  cases: readonly Case[],
): Promise<readonly Row[]> {
  const payload = await request(server, 'GET', path);
  const reference = async () => time(() => JSON.stringify(payload));
  const rows: Row[] = [];
  for (const { when, change, most } of cases) {
    const figure = async () => {
      await change();
      return answer(`${server.url}${path}`);
    };
    const measured = await inTurns(count, figure, reference);
    rows.push({ what: `${what}, ${when}`, ...measured, unit: 'ms', budget: { is: 'at most', value: most } });
  }
  return rows;
}

const agent = new Agent({ keepAlive: true });

/** Returns the time until the whole answer has arrived, in milliseconds. The answer is not parsed. */
function answer(url: string): Promise<number> {
  return time(
    () =>
      new Promise((resolve, reject) => {
        get(url, { agent, headers: { authorization: `Token ${token}` } }, (response) => {
          response.resume().once('end', resolve).once('error', reject);
        }).once('error', reject);
      }),
  );
}
