import { readFile, writeFile } from 'node:fs/promises';
import type { Benchmark, Row } from '../result.ts';
import type { Stand } from '../stand.ts';
import { fullScale, quickScale, type Scale, type Sizing } from './figures.ts';
import { measureGrowth } from './growth.ts';
import { describeMachine } from './machine.ts';
import { measureObjects } from './objects.ts';
import { measurePeers } from './peers.ts';
import { measureReplicas } from './replicas.ts';
import { sizingPage, sizingTables } from './tables.ts';

/** Options of the benchmark. */
export interface SizingOptions {
  /** Whether to use small sizes, which only show that everything is measured. */
  readonly quick: boolean;
  /** The file whose tables of figures are replaced. Absent: the tables are printed. */
  readonly page: string | undefined;
}

/**
 * Returns the benchmark of the resources of a server by the size of its account: memory, disk and throughput, on both
 * databases and on several servers.
 */
export function sizingOf({ quick, page }: SizingOptions): Benchmark {
  return {
    name: 'sizing',
    onlyByName: true,
    async run(stand) {
      if (process.platform !== 'linux') throw new Error('sizing reads /proc, which only Linux has');
      const sizing = await measure(stand, quick ? quickScale : fullScale);
      if (page === undefined) process.stdout.write(`${sizingTables(sizing)}\n`);
      else await writeFile(page, sizingPage(await readFile(page, 'utf8'), sizing));
      return rowsOf(sizing);
    },
  };
}

async function measure(stand: Stand, scale: Scale): Promise<Sizing> {
  const machine = await describeMachine(stand);
  const step = async <Value>(what: string, work: () => Promise<Value>): Promise<Value> => {
    process.stderr.write(`${what} …\n`);
    return work();
  };
  const objects = {
    Postgres: await step('objects on Postgres', () => measureObjects(stand, 'Postgres', scale)),
    embedded: await step('objects on the embedded database', () => measureObjects(stand, 'embedded', scale)),
  };
  const peers = {
    Postgres: await step('peers on Postgres', () => measurePeers(stand, 'Postgres', scale)),
    embedded: await step('peers on the embedded database', () => measurePeers(stand, 'embedded', scale)),
  };
  const replicas = await step('replicas', () => measureReplicas(stand, scale));
  const growth = await step('growth', () => measureGrowth(stand, scale));
  return { machine: machine(), objects, peers, ...replicas, growth };
}

/**
 * Returns the rows with budgets: costs that must not grow faster than the account, and writes that reads on another
 * server must not miss.
 */
function rowsOf({ objects, peers, lag }: Sizing): readonly Row[] {
  const rows: Row[] = [];
  for (const name of ['Postgres', 'embedded'] as const) {
    const [few, many] = [objects[name].at(-2), objects[name].at(-1)];
    const [less, more] = [peers[name].at(0), peers[name].at(-1)];
    if (few === undefined || many === undefined || less === undefined || more === undefined) continue;
    rows.push(
      {
        what: `apply of an object on ${name}: ${many.objects} at once, against ${few.objects}`,
        ...{ figure: many.applyMs / many.objects, reference: few.applyMs / few.objects, unit: 'ms' },
        budget: { is: 'at most', value: 1.5 },
      },
      {
        what: `single write on ${name}: account of ${many.objects} objects, against ${few.objects}`,
        ...{ figure: many.writeMs, reference: few.writeMs, unit: 'ms' },
        budget: { is: 'at most', value: 2 },
      },
      {
        what: `CPU of an enrolment on ${name}: until there are ${more.peers} peers, against ${less.peers}`,
        ...{ figure: more.enrolmentCpu, reference: less.enrolmentCpu, unit: 'ms' },
        budget: { is: 'at most', value: 1.5 },
      },
    );
  }
  return [
    ...rows,
    {
      what: 'reads without a write that was acknowledged before',
      figure: lag.stale,
      unit: '',
      budget: { is: 'at most', value: 0 },
    },
  ];
}
