import { inject, onTestFinished } from 'vitest';
import { createEngine } from '../../src/app.ts';
import type { Engine } from '../../src/commit/engine.ts';
import { statement } from '../../src/db/builder.ts';
import { openDatabase } from '../../src/db/database.ts';
import { takeLease } from '../../src/db/leases/leases.ts';
import { createConnectionTracker } from '../../src/features/peers/connection-tracker.ts';
import { createHub } from '../../src/features/peers/streams/hub.ts';
import { maintainPeers } from '../../src/features/peers/upkeep/peers.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { Unavailable } from '../../src/model/errors.ts';
import type { ReadMap } from '../access/map-reader.ts';
import { apiOn } from '../api/setup.ts';
import { connect, type Follower } from '../peers/follower.ts';
import { testDatabase } from '../setup/database.ts';
import { onConnection } from '../setup/sql.ts';

/** Labels of the peers of an account in which no policy lets peers connect to each other. */
const peers = ['edge', 'spare', 'web', 'laptop'] as const;
type Label = (typeof peers)[number];

/** Starts a server of the hosted edition that tracks connections. Its peers are not connected yet. */
export async function openMesh() {
  const made = await testDatabase('postgres');
  const api = await apiOn(made.database, () => made[Symbol.asyncDispose](), { edition: 'hosted' });
  const { engine, account, call } = api;
  // Ignores `Unavailable`, as a server does: the tracker retries what it could not store.
  const failed = (error: unknown): void => void (error instanceof Unavailable || api.defects.push(error));
  const start = (server: string, by: Engine) => {
    const listener = createConnectionTracker({ engine: by, server, failed, retryMs: 20 });
    const hub = createHub({ engine: by, listener, now: Date.now, failed, tickMs: 50 });
    onTestFinished(async () => {
      hub.close();
      await listener.close();
    });
    return { hub, listener };
  };
  onTestFinished(() => api[Symbol.asyncDispose]());
  const database = await openDatabase({ url: made.url ?? '' });
  onTestFinished(() => database.close());
  const other = createEngine({ database, planEnvironment: engine.planEnvironment });
  let serving = start('one', engine);
  let deaths = 0;
  const name = new URL(made.url ?? '').pathname.slice(1);
  for (const { id } of (await call('GET', '/api/policies')).body) await call('DELETE', `/api/policies/${id}`);
  const found = await api.peers(...peers);
  const ids = Object.fromEntries(peers.map((label, at) => [label, found[at] ?? ''])) as Readonly<Record<Label, string>>;
  const followers = new Map<Label, Follower>();
  const leaving = new Map<Label, () => void>();
  return {
    ...{ ...api, ids, call },
    /** Connects a peer from a public IP address. */
    async join(label: Label, address = '198.51.100.1'): Promise<void> {
      const location = { connection_ip: address };
      await engine.presence.record(account, { peer: ids[label], location });
      const [follower, leave] = connect(serving.hub, { account, peer: ids[label] });
      followers.set(label, follower);
      leaving.set(label, leave);
      await serving.listener.settle();
    },
    async leave(label: Label): Promise<void> {
      leaving.get(label)?.();
      await serving.listener.settle();
    },
    /** Simulates `kill -9`: the server records nothing, its leases expire, and another server starts. */
    async kill(): Promise<void> {
      deaths += 1;
      serving = start(`after ${deaths}`, other);
      await engine.database.inAccount(account, [statement(lapseText, [account])]);
    },
    /** Runs the work while Postgres refuses all connections. */
    async withoutPostgres(work: () => Promise<void>): Promise<void> {
      const allow = (on: boolean) => `alter database ${name} allow_connections ${on}`;
      const end = `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`;
      await onConnection(inject('postgresUrl'), async (ask) => {
        await ask(allow(false));
        await ask(end);
        await work().finally(() => ask(allow(true)));
      });
    },
    /** Moves the recorded connection times of a peer into the past. */
    async wait(label: Label, seconds: number): Promise<void> {
      await engine.database.inAccount(account, [statement(waitText, [account, ids[label], seconds])]);
    },
    /** Runs the maintenance of peers once, as every server does repeatedly. */
    async keep(): Promise<void> {
      const lease = { account, name: 'upkeep', owner: 'one', seconds: 60 };
      const held = await takeLease(engine.database, lease);
      if (held !== undefined) await maintainPeers(engine, account, held);
    },
    map: (label: Label): ReadMap | undefined => followers.get(label)?.map,
    events: (label: Label): number => followers.get(label)?.events.length ?? 0,
    /** Returns the forwardings that another server on the same database computes now, as `from -> to`. */
    async decidedElsewhere(): Promise<readonly string[]> {
      const { flows } = await other.access.current(await other.snapshots.fresh(account));
      const named = (id: string) => peers.find((label) => ids[label] === id) ?? id;
      return flows.map(({ fromNames, toNames }) => [...fromNames, ...toNames].map(named).join(' -> ')).sort();
    },
    async ingressPeer(label: Label, more: JsonObject = {}): Promise<string> {
      const body = { peer_id: ids[label], enabled: true, fallback: true, ...more };
      return (await call('POST', '/api/ingress/peers', body)).body.id;
    },
    async ingressPort(label: Label, name: string, more: JsonObject = {}): Promise<string> {
      const body = { name, enabled: true, port_ranges: [{ start: 8443, end: 8443, protocol: 'tcp' }], ...more };
      return (await call('POST', `/api/peers/${ids[label]}/ingress/ports`, body)).body.id;
    },
    portOf: async (label: Label, id: string) =>
      (await call('GET', `/api/peers/${ids[label]}/ingress/ports/${id}`)).body,
  };
}

const lapseText = `update leases set until = clock_timestamp() where account_id = $1 and name like 'peers/%'`;

const waitText = `update peer_status set offline_since = offline_since - make_interval(secs => $3),
  online_since = online_since - make_interval(secs => $3), last_seen = last_seen - make_interval(secs => $3),
  written = pg_current_xact_id() where account_id = $1 and peer_id = $2`;
