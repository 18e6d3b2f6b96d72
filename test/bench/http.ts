import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { ServedHeddle } from '../setup/heddle.ts';
import { type HttpLoad, type LoadGenerator, type LoadResult, startLoadGenerator } from './load.ts';
import type { Benchmark, Row } from './result.ts';
import { request, serve, token } from './served.ts';
import { inTurns } from './timing.ts';

// Many short rounds: the speed of the machine changes within seconds, and the two sides of a round must meet the same.
const rounds = 25;
const milliseconds = 400;

/** Single writes and reads over HTTP with authentication. References: bare transactions and bare handlers. */
export const http: Benchmark = {
  name: 'http',
  async run(stand) {
    const url = await stand.postgres();
    await using server = await serve({ url, dataDir: await stand.directory() });
    using bare = await startBareServer(server, url);
    using load = startLoadGenerator();
    const sides: Sides = { server, bare, url, load };
    await warmUp(sides);
    return [...(await oneWriter(sides)), ...(await manyWriters(sides)), await readers(sides)];
  },
};

/** The measured server, its references, and the load generator for all of them. */
interface Sides {
  readonly server: ServedHeddle;
  readonly bare: BareServer;
  /** URL of the database that both servers use. */
  readonly url: string;
  readonly load: LoadGenerator;
}

interface BareServer extends Disposable {
  readonly url: string;
}

async function startBareServer(server: ServedHeddle, databaseUrl: string): Promise<BareServer> {
  const { account } = (await request(server, 'GET', '/api/config/status')) as { readonly account: string };
  const child = fork(new URL('./bare-server.ts', import.meta.url), [databaseUrl, account]);
  const [url] = await once(child, 'message');
  return { url: String(url), [Symbol.dispose]: () => void child.kill() };
}

function creating(url: string, path: string, clients: number): HttpLoad {
  const target = { url, method: 'POST', path, token, body: '{"name":"Group %n"}' } as const;
  return { type: 'http', targets: [target], clients, milliseconds };
}

/**
 * Lets the runtime compile what all sides need, as in servers that run for longer than a minute: the program becomes
 * faster until it has made about 10,000 writes.
 */
async function warmUp(sides: Sides): Promise<void> {
  for (const write of Object.values(writingWith(16, sides))) for (let round = 0; round < 20; round++) await write();
}

/** Returns the write loads of all three sides, each with this number of clients. */
function writingWith(clients: number, { server, bare, url, load }: Sides) {
  return {
    heddle: () => load.run(creating(server.url, '/api/groups', clients)),
    handler: () => load.run(creating(bare.url, '/objects', clients)),
    transactions: () => load.run({ type: 'transactions', url, clients, milliseconds }),
  };
}

async function oneWriter(sides: Sides): Promise<readonly Row[]> {
  const { heddle, handler, transactions } = writingWith(1, sides);
  const p50 = (run: () => Promise<LoadResult>) => async () => (await run()).median;
  const what = 'write one object over HTTP, p50';
  return [
    {
      ...{ what: `${what}, against a bare transaction`, unit: 'ms', budget: { is: 'at most', value: 2.5 } },
      ...(await inTurns(rounds, p50(heddle), p50(transactions))),
    },
    {
      ...{ what: `${what}, against a bare handler`, unit: 'ms', budget: { is: 'at most', value: 2.5 } },
      ...(await inTurns(rounds, p50(heddle), p50(handler))),
    },
  ];
}

async function manyWriters(sides: Sides): Promise<readonly Row[]> {
  const { heddle, handler, transactions } = writingWith(16, sides);
  const rate = (run: () => Promise<LoadResult>) => async () => (await run()).perSecond;
  const what = 'writes of 16 clients to one account';
  return [
    // Has no budget: bare transactions need no HTTP, and transactions on different rows need not wait for each other.
    // The row shows which share of their rate a server keeps.
    {
      ...{ what: `${what}, against bare transactions`, unit: '/s' },
      ...(await inTurns(rounds, rate(heddle), rate(transactions))),
    },
    {
      ...{ what: `${what}, against a bare handler`, unit: '/s', budget: { is: 'at least', value: 1 } },
      ...(await inTurns(rounds, rate(heddle), rate(handler))),
    },
  ];
}

async function readers({ server, bare, load }: Sides): Promise<Row> {
  const { id } = (await request(server, 'POST', '/api/groups', { name: 'To be read' })) as { readonly id: string };
  const reading = (of: string, path: string): HttpLoad => {
    return { type: 'http', targets: [{ url: of, method: 'GET', path, token }], clients: 16, milliseconds };
  };
  const measured = await inTurns(
    rounds,
    async () => (await load.run(reading(server.url, `/api/groups/${id}`))).perSecond,
    async () => (await load.run(reading(bare.url, `/objects/${id}`))).perSecond,
  );
  return { what: 'GET of one object, 16 clients', ...measured, unit: '/s', budget: { is: 'at least', value: 0.9 } };
}
