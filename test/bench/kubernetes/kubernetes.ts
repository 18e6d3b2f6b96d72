import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { stringify } from 'yaml';
import { defaultSettleTimes } from '../../../src/features/sources/kubernetes/debouncer.ts';
import type { ServedHeddle } from '../../setup/heddle.ts';
import type { Benchmark, Row } from '../result.ts';
import { serve } from '../served.ts';
import type { Stand } from '../stand.ts';
import { median } from '../timing.ts';
import { mostAtOnce, mostInOneSecond, steadyRate, type Write } from './audit.ts';
import { type FilledCluster, isReady, namespace, openCluster, pathOf } from './cluster.ts';
import { cpuOf, inspected, memoryOf } from './process.ts';

/** Maximum number of status writes at once, and in any second. */
const pace = { atOnce: 16, perSecond: 50 };

/** Measures a server that reads a cluster through a real API server. */
export const kubernetes: Benchmark = {
  name: 'kubernetes',
  onlyByName: true,
  run: async (stand) => [await oneChange(stand), ...(await manyResources(stand))],
};

async function oneChange(stand: Stand): Promise<Row> {
  const directory = await stand.directory();
  await using cluster = await openCluster(directory, 2000);
  const follow = await prepareServer(stand, directory);
  await follow.connect(cluster);
  await using server = await follow.start();
  await synced(server, 0);
  await cluster.audit.quiet();
  const taken: number[] = [];
  for (let round = 0; round < 10; round += 1) taken.push(await changeOne(cluster, round));
  return {
    what: 'one change among 2,000 resources until it is Ready, without the settle time',
    figure: median(taken) - defaultSettleTimes.quietMs,
    unit: 'ms',
    budget: { is: 'at most', value: 3000 },
    note: `longest ${Math.round(Math.max(...taken) - defaultSettleTimes.quietMs)} ms`,
  };
}

async function changeOne({ client }: FilledCluster, round: number): Promise<number> {
  const path = pathOf('Policy', `policy-${round * 17}`);
  const begun = performance.now();
  await client.patch(path, { spec: { description: `Changed ${round}.` } });
  while (!isReady(await client.get(path))) await delay(20);
  return performance.now() - begun;
}

async function manyResources(stand: Stand): Promise<readonly Row[]> {
  const directory = await stand.directory();
  await using cluster = await openCluster(directory, 10_000);
  const follow = await prepareServer(stand, directory);
  return [...(await firstSync(cluster, follow)), await restart(cluster, follow)];
}

/**
 * Measures the first sync. The server starts before it can reach the cluster. Its figures are compared with its own
 * idle figures, taken when all code that reads a kubeconfig file is loaded.
 */
async function firstSync(cluster: FilledCluster, follow: Follow): Promise<readonly Row[]> {
  await follow.disconnect();
  await using server = await follow.start();
  await server.line(/cluster k8s: .*ECONNREFUSED/);
  await delay(3000);
  const idle = { ...(await memoryOf(server)), cpu: await cpuOf(server) };
  await follow.connect(cluster);
  await synced(server, server.lines.length);
  const synchronised = await cpuOf(server);
  await cluster.audit.quiet();
  await cluster.mustBeReady();
  const done = { ...(await memoryOf(server)), cpu: await cpuOf(server) };
  await server.stop();
  const atMost = (value: number) => ({ is: 'at most', value }) as const;
  const cpu = (what: string, figure: number): Row => ({ what, figure, unit: 'ms' });
  const statuses = (await cluster.audit.writes()).filter(isStatusOfObject);
  return [
    { ...cpu('CPU time until 10,000 resources are applied', synchronised - idle.cpu), budget: atMost(5000) },
    cpu('… and until all their statuses are written', done.cpu - idle.cpu),
    {
      ...{ what: 'heap above the idle server', figure: done.heap - idle.heap, unit: 'MB', budget: atMost(100) },
      note: 'of the main thread, both after collecting garbage',
    },
    { what: '… resident memory above it', figure: done.resident - idle.resident, unit: 'MB' },
    { what: 'status writes for 10,000 resources', figure: statuses.length, unit: '', budget: atMost(10_000) },
    { what: '… at once', figure: mostAtOnce(statuses), unit: '', budget: atMost(pace.atOnce) },
    {
      ...{ what: '… a second', figure: steadyRate(statuses, pace.perSecond), unit: '/s' },
      budget: atMost(pace.perSecond),
    },
    // Has no budget: delayed requests arrive together, so this figure does not show how many requests the server sent
    // within a second.
    { what: '… received in the busiest second', figure: mostInOneSecond(statuses), unit: '/s' },
  ];
}

function isStatusOfObject({ isStatus, resource }: Write): boolean {
  return isStatus && resource !== 'sources' && resource !== 'plans';
}

async function restart(cluster: FilledCluster, follow: Follow): Promise<Row> {
  const before = (await cluster.audit.writes()).length;
  await using server = await follow.start();
  await synced(server, 0);
  await cluster.audit.quiet();
  const writes = (await cluster.audit.writes()).slice(before);
  return {
    what: 'writes to the API server after a restart',
    figure: writes.length,
    unit: '',
    budget: { is: 'at most', value: 0 },
    note: writes.length === 0 ? 'to resources of Heddle and events' : namesOf(writes),
  };
}

/** Returns the distinct resources that were written, such as `sources/status`. */
function namesOf(writes: readonly Write[]): string {
  return [...new Set(writes.map(({ resource, isStatus }) => `${resource}${isStatus ? '/status' : ''}`))].join(', ');
}

/** A server that reads a cluster. */
interface Follow {
  /** Starts the server, each time on the same database. */
  start(): Promise<ServedHeddle>;
  /** Writes the cluster's kubeconfig file to the path that the server reads. */
  connect(cluster: FilledCluster): Promise<void>;
  /** Writes a kubeconfig file whose cluster cannot be reached. */
  disconnect(): Promise<void>;
}

async function prepareServer(stand: Stand, directory: string): Promise<Follow> {
  const [config, kubeconfigFile] = [join(directory, 'server.yaml'), join(directory, 'kubeconfig')];
  const source = { name: 'k8s', type: 'kubernetes', kubeconfigFile, namespaces: [{ names: [namespace] }] };
  await writeFile(config, stringify({ sources: [source] }));
  const url = await stand.postgres();
  return {
    start: () => serve({ url, dataDir: directory, config, env: inspected }),
    connect: ({ kubeconfig }) => copyFile(kubeconfig, kubeconfigFile),
    disconnect: () => writeFile(kubeconfigFile, stringify(unreachable)),
  };
}

const unreachable = {
  ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'none' },
  users: [{ name: 'none', user: {} }],
  clusters: [{ name: 'none', cluster: { server: 'https://127.0.0.1:1' } }],
  contexts: [{ name: 'none', context: { cluster: 'none', user: 'none' } }],
};

async function synced(server: ServedHeddle, from: number): Promise<void> {
  await server.line(/\d+ documents, /, from);
}
