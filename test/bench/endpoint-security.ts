import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { Engine } from '../../src/commit/engine.ts';
import type { MetricEvent } from '../../src/commit/observe.ts';
import { statement } from '../../src/db/builder.ts';
import { runEndpointSecurity } from '../../src/features/integrations/endpoint-security/dispatcher.ts';
import { parseAllowList } from '../../src/lib/net/public-address.ts';
import { createObject } from '../../src/objects/objects.ts';
import { createOutbound } from '../../src/outbound/outbound.ts';
import { putObjects } from '../setup/objects.ts';
import { addPeers } from '../setup/peers.ts';
import type { ProductOrder } from './endpoint-security-product.ts';
import { made } from './mesh.ts';
import type { Benchmark, Row } from './result.ts';
import { openWorkplace, type Stand } from './stand.ts';
import { tapWire, type Wire } from './wire.ts';

const devices = 50_000;
const peers = 10_000;
const changed = 100;

/**
 * A product with 50,000 devices gives verdicts on 10,000 peers. Measures the cost of reading all devices when
 * everything is new, when nothing has changed, and when some devices fail the check.
 */
export const endpointSecurity: Benchmark = {
  name: 'endpoint-security',
  async run(stand) {
    await using bench = await openBench(stand);
    const of = `${devices.toLocaleString('en')} devices and ${peers.toLocaleString('en')} peers`;
    await bench.say({ devices, off: 0 });
    const first = await bench.sync();
    const same = await bench.sync();
    await bench.say({ devices, off: changed });
    const some = await bench.sync();
    return [
      row(`first sync of ${of}`, first.seconds * 1000, 'ms', 60_000),
      row('… work of the processor', first.cpuMs, 'ms', 5000),
      row('… memory beside what was in use', first.megabytes, 'MB', 100),
      row('… statements that write', first.writes, '', peers / 500 + 6),
      row(`sync of ${of} that finds nothing new: work of the processor`, same.cpuMs, 'ms', 5000),
      row('… verdicts and events written', same.verdicts, '', 0),
      row(`sync that finds ${changed} of them at fault: work of the processor`, some.cpuMs, 'ms', 5000),
      row('… statements that write verdicts and events', some.verdicts, '', 2),
    ];
  },
};

function row(what: string, figure: number, unit: Row['unit'], most: number): Row {
  return { what, figure, unit, budget: { is: 'at most', value: most } };
}

interface Measured {
  readonly seconds: number;
  readonly cpuMs: number;
  readonly megabytes: number;
  /** Number of statements that write, including those for the lease and for the end of the sync. */
  readonly writes: number;
  /** Number of statements that write verdicts or events. */
  readonly verdicts: number;
}

interface Bench extends AsyncDisposable {
  say(order: ProductOrder): Promise<void>;
  /** Reads all devices once. */
  sync(): Promise<Measured>;
}

/** Creates an account with an integration. The product knows all peers of the account. */
async function openBench(stand: Stand): Promise<Bench> {
  const wire = await tapWire(await stand.postgres());
  const workplace = await openWorkplace({ url: wire.url, poolSize: 4 });
  const { engine, account } = workplace;
  const product = fork(new URL('./endpoint-security-product.ts', import.meta.url));
  const [port] = await once(product, 'message');
  const ids = await addPeers(
    engine,
    account,
    Array.from({ length: peers }, (_, at) => `peer-${at}`),
  );
  await Promise.all(
    ids.map((peer, at) => engine.presence.record(account, { peer, facts: { serial_number: `SN-${at}` } })),
  );
  const group = engine.newId();
  await putObjects(engine, account, () => [made(engine, group, 'Group', { name: 'Checked', peers: [...ids] })]);
  const settings = {
    ...{ api_url: `http://127.0.0.1:${port}`, api_token: 'token', groups: [group], last_synced_interval: 24 },
    match_attributes: { firewall_enabled: true },
  };
  const actor = { type: 'system', id: 'bench', name: 'bench', granted: 'owner' } as const;
  const kind = engine.registry.get('EdrVendorA');
  await createObject(engine, { account, revision: 0, actor }, kind, settings, { strict: false });
  return {
    say: (order) => say(product, order),
    sync: () => measure(engine, wire),
    async [Symbol.asyncDispose]() {
      product.kill();
      await workplace[Symbol.asyncDispose]();
      await wire[Symbol.asyncDispose]();
    },
  };
}

async function say(product: ChildProcess, order: ProductOrder): Promise<void> {
  product.send(order);
  await once(product, 'message');
}

type Synced = Extract<MetricEvent, { readonly what: 'endpoint_sync' }>;

async function measure(engine: Engine, wire: Wire): Promise<Measured> {
  await engine.database.lookUp(statement<object>('update endpoint_security set next_at = null', []));
  const [cpu, before] = [process.cpuUsage(), process.memoryUsage().rss];
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss);
  }, 10);
  wire.take();
  const { seconds } = await syncOnce(engine);
  clearInterval(timer);
  const { user, system } = process.cpuUsage(cpu);
  const texts = wire.take().filter((text) => /\b(insert|update|delete)\b/i.test(text));
  return {
    ...{ seconds, cpuMs: (user + system) / 1000, megabytes: (most - before) / 1024 ** 2, writes: texts.length },
    verdicts: texts.filter((text) => /insert into (peer_status|audit_events)/i.test(text)).length,
  };
}

/** Runs the server's sync until it has read all devices once. */
async function syncOnce(engine: Engine): Promise<Synced> {
  const allow = parseAllowList(['127.0.0.1']);
  if ('wrong' in allow) throw new Error(`${allow.wrong} is no address`);
  const outbound = createOutbound({ allow, userAgent: 'Heddle/bench' });
  const done = Promise.withResolvers<Synced>();
  const unlisten = engine.observer.on((seen) => (seen.what === 'endpoint_sync' ? done.resolve(seen) : undefined));
  const stop = runEndpointSecurity({
    ...{ engine, outbound, leaseSeconds: 30, pollMs: 100, gatherMs: 5, random: () => 0.5 },
    report: (_, message) => done.reject(new Error(message)),
  });
  const synced = await done.promise;
  unlisten();
  await stop();
  await outbound.close();
  if (synced.outcome !== 'synced') throw new Error(`the sync ended as ${synced.outcome}`);
  return synced;
}
