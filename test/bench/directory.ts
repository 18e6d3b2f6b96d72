import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Engine } from '../../src/commit/engine.ts';
import { type SyncOutcome, syncDirectory } from '../../src/features/integrations/directory/sync.ts';
import { createJobRunner } from '../../src/features/integrations/job-runner.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { createObject } from '../../src/objects/objects.ts';
import type { OutboundAnswer, OutboundRequest } from '../../src/outbound/client.ts';
import { createDirectory, type Directory } from '../integrations/directory/changes.ts';
import type { Benchmark, Row } from './result.ts';
import { openWorkplace } from './stand.ts';
import { time } from './timing.ts';
import { tapWire } from './wire.ts';

const members = 100;
const origin = 'https://directory.example.com';
const pageSize = 999;

/** Statements that frame every transaction. They are not counted. */
const frame = /^(begin|commit)\b|set_config\('role'/i;

/** Syncs a directory of 20,000 users and 500 groups: all new, one change, and no change. */
export const directory: Benchmark = {
  name: 'directory',
  run: async (stand) => [...(await times(await stand.postgres())), ...(await statements(await stand.postgres()))],
};

async function times(url: string): Promise<readonly Row[]> {
  await using workplace = await openWorkplace({ url, poolSize: 4 });
  const { engine, account } = workplace;
  const remote = directoryOf(20_000);
  const sync = await createSync(engine, account, remote);
  const rows: Row[] = [
    ...rowsOf('sync of 20,000 users, 500 groups and 50,000 memberships, all new', await observed(sync)),
  ];
  const { revision } = await engine.snapshots.fresh(account);
  rows.push(...rowsOf('sync that finds nothing changed', await observed(sync)));
  const { revision: after } = await engine.snapshots.fresh(account);
  rows.push(budget('revisions of a sync that finds nothing changed', after - revision, 0));
  change(remote);
  return [...rows, ...rowsOf('sync of a name and a membership that changed', await observed(sync))];
}

/**
 * Counts the statements of a sync on the wire. This is separate from the timing, which the tap would slow down. The
 * number of statements does not depend on the number of users.
 */
async function statements(url: string): Promise<readonly Row[]> {
  await using wire = await tapWire(url);
  await using workplace = await openWorkplace({ url: wire.url, poolSize: 4 });
  const remote = directoryOf(2000);
  const sync = await createSync(workplace.engine, workplace.account, remote);
  const counted = async (): Promise<number> => {
    wire.take();
    await sync();
    return wire.take().filter((text) => !frame.test(text)).length;
  };
  const all = await counted();
  const none = await counted();
  change(remote);
  return [
    budget('SQL statements of a sync of 2,000 users, all new', all, 60),
    budget('SQL statements of a sync that finds nothing changed', none, 20),
    budget('SQL statements of a sync of a name and a membership that changed', await counted(), 45),
  ];
}

interface Figures {
  readonly ms: number;
  readonly heldMs: number;
  readonly megabytes: number;
}

function rowsOf(what: string, { ms, heldMs, megabytes }: Figures): readonly Row[] {
  return [
    { what, figure: ms, unit: 'ms' },
    { what: '… the longest that others wait', figure: heldMs, unit: 'ms' },
    { what: '… memory at its most', figure: megabytes, unit: 'MB' },
  ];
}

function budget(what: string, figure: number, value: number): Row {
  return { what, figure, unit: '', budget: { is: 'at most', value } };
}

function directoryOf(users: number): Directory {
  const remote = createDirectory();
  for (let at = 0; at < users; at += 1) remote.putUser(`u${at}`);
  for (let at = 0; at < users / 40; at += 1) {
    const ids = Array.from({ length: members }, (_, member) => `u${(at * members + member) % users}`);
    remote.putGroup(`g${at}`, `mesh-${at}`, ids);
  }
  return remote;
}

function change(remote: Directory): void {
  remote.putUser('u7', { displayName: 'Ana Lima' });
  remote.leave('g3', 'u304');
}

/**
 * Measures a sync: its duration, the longest delay of the event loop, and the maximum increase of the process's memory.
 */
async function observed(sync: () => Promise<void>): Promise<Figures> {
  const before = process.memoryUsage.rss();
  const delays = monitorEventLoopDelay({ resolution: 5 });
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss());
  }, 10);
  delays.enable();
  const ms = await time(sync);
  delays.disable();
  clearInterval(timer);
  return { ms, heldMs: delays.max / 1e6, megabytes: (most - before) / 2 ** 20 };
}

/** Creates an integration. Returns a function that syncs it in the way of the sync loop. */
async function createSync(engine: Engine, account: string, remote: Directory): Promise<() => Promise<void>> {
  const call = { account, revision: 0, actor: { type: 'system', id: 'bench', name: 'bench' } } as const;
  const spec = { host: 'bench', tenant_id: 'bench', client_id: 'bench', client_secret: 'YmVuY2g=' };
  const kind = engine.registry.get('DirectoryIntegration');
  const { object } = await createObject(engine, call, kind, spec, { strict: true });
  const work = createJobRunner({
    ...{ engine, owner: 'bench', leaseSeconds: 30, atOnce: { inAll: 1, ofAccount: 1 }, ended: () => undefined },
    failed: (_, error) => {
      throw error;
    },
  });
  const options = {
    ...{ engine, hosts: { bench: { signIn: origin, api: origin } }, random: () => 0 },
    outbound: { send: async (_: string, request: OutboundRequest) => answerOf(remote, request) },
  };
  return async () => {
    let outcome: SyncOutcome | undefined;
    await work.start({ account, lease: `directory-sync/${object.id}` }, async (hold) => {
      outcome = await syncDirectory(options, hold, object.id);
    });
    if (outcome?.outcome !== 'synced') throw new Error(`the sync did not come to its end: ${outcome?.result}`);
  };
}

/**
 * Returns the answer of the directory, without a network. The token in each link contains the last change that was seen
 * and the position in the list.
 */
function answerOf(remote: Directory, { url }: OutboundRequest): OutboundAnswer {
  if (url.pathname.endsWith('/token')) return answer({ access_token: 'bench', expires_in: 3599 });
  if (url.pathname.includes('applications')) return answer({ passwordCredentials: [] });
  const list = url.pathname === '/v1.0/users/delta' ? 'users' : 'groups';
  const token = url.searchParams.get('$deltatoken') ?? url.searchParams.get('$skiptoken') ?? '-0';
  const [since = '', from = 0] = token.split('-');
  const items = remote.since(list, since === '' ? undefined : Number(since));
  const to = Number(from) + pageSize;
  const link = `${origin}/v1.0/${list}/delta?`;
  const next =
    to < items.length
      ? { '@odata.nextLink': `${link}$skiptoken=${since}-${to}` }
      : { '@odata.deltaLink': `${link}$deltatoken=${remote.now}-0` };
  return answer({ ...next, value: items.slice(Number(from), to) });
}

function answer(body: JsonObject): OutboundAnswer {
  return { status: 200, headers: {}, body: Buffer.from(JSON.stringify(body)) };
}
