import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { ServedHeddle } from '../setup/heddle.ts';
import { type HttpLoad, type LoadGenerator, startLoadGenerator } from './load.ts';
import type { Benchmark, Row } from './result.ts';
import { request, serve, token } from './served.ts';
import { inTurns } from './timing.ts';

const rounds = 5;
const milliseconds = 2000;

/** Single writes and reads over HTTP with authentication, against bare transactions and a bare handler. */
export const http: Benchmark = {
  name: 'http',
  async run(stand) {
    const url = await stand.postgres();
    await using server = await serve({ url, dataDir: await stand.directory() });
    using load = startLoadGenerator();
    return [await oneWriter(server, url, load), await manyWriters(server, url, load), await readers(server, url, load)];
  },
};

function creating(server: ServedHeddle, clients: number): HttpLoad {
  const body = '{"name":"Group %n"}';
  const target = { url: server.url, method: 'POST', path: '/api/groups', token, body } as const;
  return { type: 'http', targets: [target], clients, milliseconds };
}

async function oneWriter(server: ServedHeddle, url: string, load: LoadGenerator): Promise<Row> {
  const measured = await inTurns(
    rounds,
    async () => (await load.run(creating(server, 1))).median,
    async () => (await load.run({ type: 'transactions', url, clients: 1, milliseconds })).median,
  );
  return { what: 'write one object over HTTP, p50', ...measured, unit: 'ms', budget: { is: 'at most', value: 2.5 } };
}

async function manyWriters(server: ServedHeddle, url: string, load: LoadGenerator): Promise<Row> {
  const measured = await inTurns(
    rounds,
    async () => (await load.run(creating(server, 16))).perSecond,
    async () => (await load.run({ type: 'transactions', url, clients: 16, milliseconds })).perSecond,
  );
  return { what: 'writes of 16 clients to one account', ...measured, unit: '/s', budget: { is: 'at least', value: 1 } };
}

async function readers(server: ServedHeddle, url: string, load: LoadGenerator): Promise<Row> {
  const { id } = (await request(server, 'POST', '/api/groups', { name: 'To be read' })) as { readonly id: string };
  const { account } = (await request(server, 'GET', '/api/config/status')) as { readonly account: string };
  const bare = fork(new URL('./bare-server.ts', import.meta.url), [url, account]);
  const [bareUrl] = await once(bare, 'message');
  const reading = (of: string, path: string): HttpLoad => {
    return { type: 'http', targets: [{ url: of, method: 'GET', path, token }], clients: 16, milliseconds };
  };
  const measured = await inTurns(
    rounds,
    async () => (await load.run(reading(server.url, `/api/groups/${id}`))).perSecond,
    async () => (await load.run(reading(String(bareUrl), `/objects/${id}`))).perSecond,
  );
  bare.kill();
  return { what: 'GET of one object, 16 clients', ...measured, unit: '/s', budget: { is: 'at least', value: 0.9 } };
}
