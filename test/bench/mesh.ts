import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { storedObject } from '../../src/commit/bootstrap.ts';
import type { Engine } from '../../src/commit/engine.ts';
import { openHttpSink } from '../../src/features/peers/streams/http-sink.ts';
import { createHub, type Hub } from '../../src/features/peers/streams/hub.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { canonicalSpec } from '../../src/model/schema/normalize.ts';
import { putObjects } from '../setup/objects.ts';
import { addPeers } from '../setup/peers.ts';
import { openWorkplace, type Stand } from './stand.ts';
import type { Order, Reader } from './stream-clients.ts';

/** Number of peers in each group of a mesh. */
export const peersPerGroup = 50;

/** Peers in groups, and a server to which they connect over sockets. Each group can reach itself and the next group. */
export interface Mesh extends AsyncDisposable {
  readonly engine: Engine;
  readonly account: string;
  readonly ids: readonly string[];
  readonly groupIds: readonly string[];
  readonly clients: ChildProcess;
  readonly port: number;
  /** Responses that carry the streams, by peer id. */
  readonly open: Map<string, ServerResponse>;
  /** Hub that the next connecting reader joins. */
  hub: Hub;
}

/** Creates a mesh with this number of groups. No peer is connected yet. */
export async function openMesh(stand: Stand, groups: number): Promise<Mesh> {
  const workplace = await openWorkplace({ url: await stand.postgres(), poolSize: 4 });
  const { engine, account } = workplace;
  const peers = groups * peersPerGroup;
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
    const gone = mesh.hub.join({ account, peer, revision: 0, lastEventId: undefined, sink });
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

/** Returns an object in its stored form. */
export function made(engine: Engine, id: string, kind: string, spec: JsonObject) {
  const { spec: canonical } = canonicalSpec(engine.registry.get(kind), spec);
  return storedObject(engine, { id, kind, spec: canonical, derived: {} }, engine.now());
}

/** Returns a policy from one group to another. Versions of the policy differ in their port. */
export function policyOf(
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

/** Sends an order to the readers. Resolves when they answer. */
export function order(clients: ChildProcess, given: Order | { readonly type: 'await'; readonly events: number }) {
  const answer = once(clients, 'message');
  clients.send(given);
  return answer;
}

/** Connects all peers. Resolves when each has its map. */
export async function connect({ clients, port, ids }: Mesh): Promise<void> {
  const readers = ids.map((peer) => ({ peer, request: `GET /${peer} HTTP/1.1\r\nhost: bench\r\n\r\n` }));
  await connectReaders(clients, port, readers);
}

/** Connects readers; resolves when each has its map. */
export async function connectReaders(clients: ChildProcess, port: number, readers: readonly Reader[]): Promise<void> {
  // The first chunk of a stream is not an event, but is counted as one.
  await order(clients, { type: 'await', events: readers.length * 2 });
  const reached = new Promise((resolve) => {
    clients.on('message', (message) => message === 'reached' && resolve(undefined));
  });
  clients.send({ type: 'connect', port, readers } satisfies Order);
  await reached;
}
