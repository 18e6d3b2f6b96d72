import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { putObjects } from '../setup/objects.ts';
import { collector } from './memory.ts';
import { connect, type Mesh, made, openMesh, order, peersPerGroup, policyOf } from './mesh.ts';
import type { Benchmark, Row } from './result.ts';
import type { Counted } from './stream-clients.ts';
import { inTurns, median } from './timing.ts';

const [groups, rounds] = [100, 9];
const peers = groups * peersPerGroup;

/** 5,000 peers in 100 groups, connected over sockets to one server. Each group reaches itself and the next group. */
export const streams: Benchmark = {
  name: 'streams',
  async run(stand) {
    await using mesh = await openMesh(stand, groups);
    const memory = await connectAll(mesh);
    return [
      ...(await oneChange(mesh, 'two groups of 50', [0, 1])),
      ...(await oneChange(mesh, 'all 5,000 peers', undefined)),
      ...(await silence(mesh)),
      ...(await burst(mesh)),
      memory,
    ];
  },
};

/**
 * Waits until the work has caused this number of events. Returns the time since the work called `begin`, in
 * milliseconds.
 */
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
  await connect(mesh);
  await delay(500);
  const after = collect();
  const what = 'memory of one connected peer, its socket and what it was told included';
  return { what, figure: (after - before) / peers / 1000, unit: 'kB' };
}

let port = 1000;

/**
 * Measures one changed policy, from the commit to the last peer that is affected, against writing the same bytes to the
 * same sockets.
 */
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
  const reported = async () =>
    until(mesh, concerned.length, async (begin) => {
      const stop = engine.notices.on(begin);
      const start = performance.now();
      await write();
      whole.push(performance.now() - start);
      stop();
    });
  // A warm-up, so that code that is compiled at first use is compiled before the measurement.
  for (let warming = 0; warming < 10; warming++) await reported();
  whole.length = 0;
  await reported();
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
  const measured = await inTurns(rounds, reported, bare);
  const note = `${size} bytes each`;
  return [
    {
      what: `one changed policy reaches ${whom} and nobody else, from the commit on`,
      ...{ note, ...measured, unit: 'ms', budget: { is: 'at most', value: 2 } },
    },
    { what: '… of that, the commit itself before', figure: median(whole), unit: 'ms' },
  ];
}

/** Checks that changes without an effect on any peer cause no events. */
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

/** Makes many changes at once: each peer is sent the newest state, not every intermediate state. */
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
