import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { proofFor } from '../../../src/features/peers/enrolment/client.ts';
import type { ServedHeddle } from '../../setup/heddle.ts';
import { enrolMachine, type Machine, prepareMachines } from '../enrolling.ts';
import { type LoadGenerator, startLoadGenerator } from '../load.ts';
import { connectReaders, order, peersPerGroup } from '../mesh.ts';
import { request } from '../served.ts';
import { connectClients } from '../sockets.ts';
import type { Stand } from '../stand.ts';
import type { Reader } from '../stream-clients.ts';
import { median, time } from '../timing.ts';
import type { PeerFigures, Scale } from './figures.ts';
import { cpuBetween, cpuOf, memoryOf } from './process.ts';
import { addGroup, type Fresh, renaming, runInTurns, startAgain, startFresh, target } from './servers.ts';
import { type DatabaseName, openStorage } from './storage.ts';

/** Number of machines that enrol at once. */
const atOnce = 64;

/** A peer: the machine, and the session with which it connects. */
interface Enrolled {
  readonly machine: Machine;
  readonly id: string;
  readonly session: string;
}

/** Measures accounts of all sizes on one kind of database, one after another. */
export async function measurePeers(stand: Stand, name: DatabaseName, scale: Scale): Promise<readonly PeerFigures[]> {
  using load = startLoadGenerator();
  const figures: PeerFigures[] = [];
  for (const peers of scale.peers) {
    process.stderr.write(`  ${peers} peers …\n`);
    figures.push(await measure(await startFresh(await openStorage(stand, name)), peers, { load, scale }));
  }
  return figures;
}

async function measure(
  fresh: Fresh,
  peers: number,
  { load, scale }: { readonly load: LoadGenerator; readonly scale: Scale },
): Promise<PeerFigures> {
  const mesh = await makeMesh(fresh.server, Math.ceil(peers / peersPerGroup));
  const before = cpuOf([fresh.server.pid]);
  const enrolled: Enrolled[] = [];
  const enrollingMs = await time(async () => enrolled.push(...(await enrolAll(fresh.server, mesh.keys, peers))));
  const enrolmentCpu = cpuBetween(before, cpuOf([fresh.server.pid])) / peers;
  const disk = { empty: fresh.disk, enrolled: await fresh.storage.use() };
  const { server, ...again } = await startAgain(fresh, 1);
  const streams = await connectSome(server, mesh, enrolled.slice(0, scale.connected), scale.rounds);
  const loads = [
    { name: 'writes', targets: [renaming(server, await addGroup(server, 'To be renamed'))], clients: 16 },
    { name: 'list', targets: [target(server, 'GET', '/api/peers')], clients: 1 },
  ];
  const result = await runInTurns(load, loads, scale);
  streams.close();
  await server.stop();
  return {
    ...{ peers, enrolments: peers / (enrollingMs / 1000), enrolmentCpu, disk, ...again, ...streams.figures },
    ...{ writes: result('writes').perSecond, listMs: result('list').median },
  };
}

/** Groups with one setup key each, and policies by which each group can reach itself and the next group. */
interface MeshPlan {
  readonly keys: readonly string[];
  readonly groups: readonly string[];
  /** Id of the policy by which the first group can reach the second. */
  readonly policy: string;
}

async function makeMesh(server: ServedHeddle, groups: number): Promise<MeshPlan> {
  const ids = await inParallel(groups, (at) => addGroup(server, `Group ${at}`));
  const keys = await inParallel(groups, async (at) => {
    const key = { name: `Key ${at}`, type: 'reusable', expires_in: 86_400, auto_groups: [ids[at] ?? ''] };
    const more = { usage_limit: 0, ephemeral: false, allow_extra_dns_labels: true };
    return member(await request(server, 'POST', '/api/setup-keys', { ...key, ...more }), 'key');
  });
  // Every account starts with a policy that allows all traffic between all peers. It is deleted.
  const first = (await request(server, 'GET', '/api/policies')) as readonly { readonly id: string }[];
  for (const { id } of first) await request(server, 'DELETE', `/api/policies/${id}`);
  const add = (at: number, to: number) => request(server, 'POST', '/api/policies', policyOf(ids, at, to));
  await inParallel(groups, (at) => add(at, at));
  const next = await inParallel(groups, (at) => add(at, (at + 1) % groups));
  return { keys, groups: ids, policy: member(next[0], 'id') };
}

function policyOf(groups: readonly string[], from: number, to: number, port = 443) {
  const rule = {
    name: 'r',
    enabled: true,
    action: 'accept',
    bidirectional: false,
    protocol: 'tcp',
    ports: [`${port}`],
  };
  const sides = { sources: [groups[from] ?? ''], destinations: [groups[to] ?? ''] };
  return { name: `From ${from} to ${to}`, enabled: true, rules: [{ ...rule, ...sides }] };
}

/** Calls `work` for each number below `count`, 16 at once. Returns the results in the order of the numbers. */
async function inParallel<Value>(count: number, work: (at: number) => Promise<Value>): Promise<readonly Value[]> {
  const results: Value[] = [];
  let next = 0;
  const run = async () => {
    for (let at = next++; at < count; at = next++) results[at] = await work(at);
  };
  await Promise.all(Array.from({ length: 16 }, run));
  return results;
}

/** Enrols machines with challenge and proof, like real machines, in the order of their groups. */
async function enrolAll(server: ServedHeddle, keys: readonly string[], count: number): Promise<readonly Enrolled[]> {
  const machines = prepareMachines(count);
  const enrolled: Enrolled[] = [];
  let next = 0;
  const sockets = await connectClients(server.url, atOnce);
  await Promise.all(
    sockets.map(async (socket) => {
      for (let at = next++; at < count; at = next++) {
        const machine = machines[at];
        if (machine === undefined) return;
        const answer = JSON.parse(await enrolMachine(socket, machine, keys[Math.floor(at / peersPerGroup)] ?? ''));
        enrolled[at] = { machine, id: answer.peer.id, session: answer.session.token };
      }
    }),
  );
  for (const socket of sockets) socket.destroy();
  return enrolled;
}

/** Connects peers in the way of real machines, and measures a change of a policy that affects the first two groups. */
async function connectSome(server: ServedHeddle, mesh: MeshPlan, peers: readonly Enrolled[], rounds: number) {
  const clients = fork(new URL('../stream-clients.ts', import.meta.url));
  const before = memoryOf(server.pid).resident;
  const readers = peers.map(readerOf);
  const port = Number(new URL(server.url).port);
  const taken = await time(() => withinMinutes(connectReaders(clients, port, readers)));
  await delay(2000);
  const after = memoryOf(server.pid).resident;
  const concerned = Math.min(peers.length, 2 * peersPerGroup);
  const changes: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    await order(clients, { type: 'await', events: concerned });
    const reached = once(clients, 'message');
    const policy = policyOf(mesh.groups, 0, 1, 1000 + round);
    const work = async () => {
      await Promise.all([request(server, 'PUT', `/api/policies/${mesh.policy}`, policy), withinMinutes(reached)]);
    };
    const milliseconds = await time(work);
    // The first round is a warm-up: code is compiled at its first use.
    if (round > 0) changes.push(milliseconds);
  }
  return {
    figures: {
      ...{ connected: peers.length, maps: peers.length / (taken / 1000), changeMs: median(changes) },
      connectedMemory: after - before,
    },
    close: () => end(clients),
  };
}

function readerOf({ machine, id, session }: Enrolled): Reader {
  const path = '/agent/stream';
  const proof = proofFor(machine.keys, { method: 'GET', path });
  const head = `GET ${path} HTTP/1.1\r\nhost: bench\r\nauthorization: Peer ${session}\r\nheddle-proof: ${proof}\r\n\r\n`;
  return { peer: id, request: head };
}

/**
 * Throws when `work` takes more than three minutes. A reader that is refused receives no event, so `work` would never
 * end.
 */
async function withinMinutes<Value>(work: Promise<Value>): Promise<Value> {
  const stop = new AbortController();
  const late = delay(180_000, undefined, { signal: stop.signal }).then(() => {
    throw new Error('not every peer was sent what it waits for');
  });
  late.catch(() => undefined);
  return Promise.race([work, late]).finally(() => stop.abort());
}

function end(clients: ChildProcess): void {
  clients.kill();
}

function member(answer: unknown, name: string): string {
  return String((answer as Readonly<Record<string, unknown>>)[name]);
}
