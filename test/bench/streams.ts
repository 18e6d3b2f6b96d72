import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { storedObject } from '../../src/engine/bootstrap.ts';
import type { Engine } from '../../src/engine/engine.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { canonicalSpec } from '../../src/model/canonical.ts';
import { openHttpSink } from '../../src/peering/streams/http-sink.ts';
import { createHub, type Hub } from '../../src/peering/streams/hub.ts';
import { putObjects } from '../setup/objects.ts';
import { addPeers } from '../setup/peers.ts';
import type { Benchmark, Row } from './result.ts';
import { openWorkplace, type Stand } from './stand.ts';
import type { Counted, Order } from './stream-clients.ts';
import { inTurns, median } from './timing.ts';

const [groups, peersPerGroup, rounds] = [100, 50, 9];
const peers = groups * peersPerGroup;

/** 5,000 peers in 100 groups, connected over sockets to one server; each group reaches itself and the next one. */
export const streams: Benchmark = {
  name: 'streams',
  async run(stand) {
    await using mesh = await openMesh(stand);
    const memory = await connectAll(mesh);
    return [
      ...(await oneChange(mesh, 'two groups of 50', [0, 1])),
      ...(await oneChange(mesh, 'all 5,000 peers', undefined)),
      ...(await silence(mesh)),
      ...(await burst(mesh)),
      memory,
      await reconnect(mesh),
    ];
  },
};

interface Mesh extends AsyncDisposable {
  readonly engine: Engine;
  readonly account: string;
  readonly ids: readonly string[];
  readonly groupIds: readonly string[];
  readonly clients: ChildProcess;
  readonly port: number;
  /** The answers that carry the streams, by peer. */
  readonly open: Map<string, ServerResponse>;
  hub: Hub;
}

async function openMesh(stand: Stand): Promise<Mesh> {
  const workplace = await openWorkplace({ url: await stand.postgres(), poolSize: 4 });
  const { engine, account } = workplace;
  const labels = Array.from({ length: peers }, (_, at) => `peer-${at}`);
  const ids = await addPeers(engine, account, labels);
  const groupIds = Array.from({ length: groups + 1 }, () => engine.newId());
  const members = (at: number) => (at === groups ? ids : ids.slice(at * peersPerGroup, (at + 1) * peersPerGroup));
  await putObjects(engine, account, () =>
    groupIds.map((id, at) => made(engine, id, 'Group', { name: `Group ${at}`, peers: [...members(at)] })),
  );
  await putObjects(engine, account, () =>
    Array.from({ length: groups }, (_, at) => policyOf(engine, `own-${at}`, groupIds, [at, at])).concat(
      Array.from({ length: groups }, (_, at) => policyOf(engine, `next-${at}`, groupIds, [at, (at + 1) % groups])),
    ),
  );
  const open = new Map<string, ServerResponse>();
  const listener = { connected: () => undefined, gone: () => undefined };
  const newHub = () => createHub({ engine, listener, now: Date.now, failed: (error) => console.error(error) });
  const server = createServer((request, response) => {
    const peer = (request.url ?? '').slice(1);
    const sink = openHttpSink(response, () => gone());
    open.set(peer, response);
    const gone = mesh.hub.join({ account, peer, revision: 0, last: undefined, sink });
  });
  server.listen({ host: '127.0.0.1', port: 0, backlog: peers });
  await once(server, 'listening');
  const clients = fork(new URL('./stream-clients.ts', import.meta.url));
  const { port } = server.address() as AddressInfo;
  const mesh: Mesh = {
    ...{ engine, account, ids, groupIds, clients, port, open, hub: newHub() },
    async [Symbol.asyncDispose]() {
      clients.kill();
      mesh.hub.close();
      server.closeAllConnections();
      server.close();
      await workplace[Symbol.asyncDispose]();
    },
  };
  return mesh;
}

function made(engine: Engine, id: string, kind: string, spec: JsonObject) {
  const { spec: canonical } = canonicalSpec(engine.registry.get(kind), spec);
  const stored = kind === 'Group' ? { ...canonical, peers: origins(spec['peers'] as readonly string[]) } : canonical;
  return storedObject(engine, { id, kind, spec: stored, derived: {} }, engine.now());
}

function origins(ids: readonly string[]): JsonObject {
  return Object.fromEntries(ids.map((id) => [id, ['api']]));
}

function policyOf(
  engine: Engine,
  id: string,
  groupIds: readonly string[],
  [from, to]: readonly [number, number],
  port = 443,
) {
  const sides = { sources: [groupIds[from] ?? ''], destinations: [groupIds[to] ?? ''] };
  const rule = {
    name: 'r',
    enabled: true,
    action: 'accept',
    bidirectional: false,
    protocol: 'tcp',
    ports: [`${port}`],
  };
  return made(engine, id, 'Policy', { name: id, enabled: true, rules: [{ ...rule, ...sides }] });
}

function order(clients: ChildProcess, given: Order | { readonly type: 'await'; readonly events: number }) {
  const answer = once(clients, 'message');
  clients.send(given);
  return answer;
}

/** Waits for so many events behind the work; answers how long it took from the moment that `begin` tells. */
async function until(mesh: Mesh, events: number, work: (begin: () => void) => unknown): Promise<number> {
  await order(mesh.clients, { type: 'await', events });
  const reached = once(mesh.clients, 'message');
  let start = 0;
  const working = work(() => {
    start = performance.now();
  });
  await reached;
  const taken = performance.now() - start;
  await working;
  return taken;
}

async function connectAll(mesh: Mesh): Promise<Row> {
  const collect = await collector();
  await delay(1000);
  const before = collect();
  await order(mesh.clients, { type: 'await', events: peers * 2 });
  const reached = new Promise((resolve) => {
    mesh.clients.on('message', (message) => message === 'reached' && resolve(undefined));
  });
  mesh.clients.send({ type: 'connect', port: mesh.port, peers: mesh.ids } satisfies Order);
  await reached;
  await delay(500);
  const after = collect();
  const what = 'memory of one connected peer, its socket and what it was told included';
  return { what, figure: (after - before) / peers / 1000, unit: 'kB' };
}

/** Answers a function that says how many bytes are in use once what is not needed is gone. */
async function collector(): Promise<() => number> {
  const { setFlagsFromString } = await import('node:v8');
  const { runInNewContext } = await import('node:vm');
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  return () => {
    collect();
    collect();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
}

let port = 1000;

/** One changed policy, from the commit to the last peer that it concerns, against writing the same bytes to the same sockets. */
async function oneChange(
  mesh: Mesh,
  whom: string,
  between: readonly [number, number] | undefined,
): Promise<readonly Row[]> {
  const { engine, account, groupIds, ids } = mesh;
  const [from, to] = between ?? [groups, groups];
  const concerned = between === undefined ? ids : ids.slice(0, peersPerGroup * 2);
  const id = between === undefined ? 'everybody' : 'next-0';
  const write = () => {
    port += 1;
    return putObjects(engine, account, () => [policyOf(engine, id, groupIds, [from, to], port)]);
  };
  if (between === undefined) await until(mesh, peers, write);
  const whole: number[] = [];
  const told = async () =>
    until(mesh, concerned.length, async (begin) => {
      const stop = engine.notices.on(begin);
      const start = performance.now();
      await write();
      whole.push(performance.now() - start);
      stop();
    });
  await told();
  await delay(200);
  const [counted] = (await order(mesh.clients, { type: 'count' })) as [Counted];
  if (counted.peers !== concerned.length || counted.events !== concerned.length)
    throw new Error(`a change for ${concerned.length} peers reached ${counted.peers} by ${counted.events} events`);
  const size = Math.round(counted.bytes / counted.events);
  const event = Buffer.from(`event: bare\ndata: {"${'x'.repeat(Math.max(0, size - 60))}":1}\n\n`);
  const bare = () =>
    until(mesh, concerned.length, (begin) => {
      begin();
      for (const peer of concerned) mesh.open.get(peer)?.write(event);
    });
  const measured = await inTurns(rounds, told, bare);
  const note = `${size} bytes each`;
  return [
    {
      what: `one changed policy reaches ${whom} and nobody else, from the commit on`,
      ...{ note, ...measured, unit: 'ms', budget: { is: 'at most', value: 2 } },
    },
    { what: '… of that, the commit itself before', figure: median(whole), unit: 'ms' },
  ];
}

/** What changes nothing for anybody is sent to nobody. */
async function silence(mesh: Mesh): Promise<readonly Row[]> {
  const { engine, account, groupIds } = mesh;
  await order(mesh.clients, { type: 'await', events: 1 });
  const same = policyOf(engine, 'next-5', groupIds, [5, 6]);
  await putObjects(engine, account, () => [same]);
  await putObjects(engine, account, () => [made(engine, 'nobody', 'Group', { name: 'Nobody', peers: [] })]);
  await delay(500);
  const [{ events }] = (await order(mesh.clients, { type: 'count' })) as [Counted];
  return [
    {
      what: 'events after applying what is there already',
      figure: events,
      unit: '',
      budget: { is: 'at most', value: 0 },
    },
  ];
}

/** Many changes at once: each peer is told the newest state, not each step on the way. */
async function burst(mesh: Mesh): Promise<readonly Row[]> {
  const { engine, account, groupIds } = mesh;
  await order(mesh.clients, { type: 'await', events: Number.MAX_SAFE_INTEGER });
  const changes = 100;
  await Promise.all(
    Array.from({ length: changes }, (_, at) =>
      putObjects(engine, account, () => [policyOf(engine, 'next-0', groupIds, [0, 1], 20_000 + at)]),
    ),
  );
  await delay(1000);
  const [{ events, peers: reached }] = (await order(mesh.clients, { type: 'count' })) as [Counted];
  const what = `events for each of ${reached} peers after ${changes} changes at once`;
  return [{ what, figure: events / reached, unit: '', budget: { is: 'at most', value: changes } }];
}

/** All come again to a server that knows none of them: how long until the last has its map. */
async function reconnect(mesh: Mesh): Promise<Row> {
  await order(mesh.clients, { type: 'cut' });
  mesh.hub.close();
  await delay(500);
  const { engine, account, groupIds } = mesh;
  // Without the rule by which everybody knows everybody: a megabyte for each peer would measure the sockets alone.
  await putObjects(engine, account, () => [policyOf(engine, 'everybody', groupIds, [0, 0])]);
  const listener = { connected: () => undefined, gone: () => undefined };
  mesh.hub = createHub({ engine, listener, now: Date.now, failed: (error) => console.error(error) });
  await order(mesh.clients, { type: 'await', events: peers * 2 });
  const reached = new Promise((resolve) => {
    mesh.clients.on('message', (message) => message === 'reached' && resolve(undefined));
  });
  const start = performance.now();
  mesh.clients.send({ type: 'connect', port: mesh.port, peers: mesh.ids } satisfies Order);
  await reached;
  return {
    what: 'all 5,000 come again after a restart: until the last has its map',
    figure: performance.now() - start,
    unit: 'ms',
  };
}
