import { createEngine, firstObjects } from '../../../src/app.ts';
import { storedObject } from '../../../src/commit/bootstrap.ts';
import type { Engine } from '../../../src/commit/engine.ts';
import { insertToken } from '../../../src/db/accounts/tokens.ts';
import { openDatabase } from '../../../src/db/database.ts';
import { hashToken } from '../../../src/features/auth/authenticate.ts';
import { makeToken } from '../../../src/lib/token.ts';
import { generateFiles } from '../../setup/generate.ts';
import type { ServedHeddle } from '../../setup/heddle.ts';
import { putObjects } from '../../setup/objects.ts';
import { type HttpTarget, type LoadGenerator, startLoadGenerator } from '../load.ts';
import { request, serve } from '../served.ts';
import { addAccount, type Stand } from '../stand.ts';
import { median, time } from '../timing.ts';
import { openEvents } from './events.ts';
import type { LagFigures, ReplicaFigures, Scale, Sum } from './figures.ts';
import { cpuBetween, cpuOf, cpuOfPostgres } from './process.ts';
import { addGroup, renaming, target } from './servers.ts';

/** Number of clients, however many servers they are distributed over. */
const clients = 24;

/**
 * Measures one to three servers on one Postgres. All three run all the time; each load is sent to one, two and three of
 * them in turns.
 */
export async function measureReplicas(
  stand: Stand,
  scale: Scale,
): Promise<{ readonly replicas: readonly ReplicaFigures[]; readonly lag: LagFigures }> {
  using load = startLoadGenerator();
  const url = await stand.postgres();
  const servers: ServedHeddle[] = [];
  for (let count = 0; count < 3; count += 1) servers.push(await serve({ url, dataDir: await stand.directory() }));
  const [first, second] = servers;
  if (first === undefined || second === undefined) throw new Error('no server was started');
  await request(first, 'POST', '/api/config/apply', { source: 'bench', files: generateFiles(1000) });
  const setup: ReplicaSetup = { url, servers, load, ...(await targetsOn(url, servers)) };
  const replicas = await measureInTurns(setup, scale);
  const lag = await measureLag(first, second, scale.rounds * 20);
  await Promise.all(servers.map((server) => server.stop()));
  return { replicas, lag };
}

/**
 * Requests for each server: reads, writes to one account that all servers share, and writes to an account that only
 * this server writes to.
 */
interface Targets {
  readonly reads: readonly HttpTarget[];
  readonly sameAccount: readonly HttpTarget[];
  readonly otherAccounts: readonly HttpTarget[];
}

interface ReplicaSetup extends Targets {
  readonly url: string;
  readonly servers: readonly ServedHeddle[];
  readonly load: LoadGenerator;
}

async function targetsOn(url: string, servers: readonly ServedHeddle[]): Promise<Targets> {
  const [first] = servers;
  if (first === undefined) throw new Error('no server was started');
  const [policy] = (await request(first, 'GET', '/api/policies')) as readonly { readonly id: string }[];
  const group = await addGroup(first, 'To be renamed');
  const database = await openDatabase({ url, poolSize: 1 });
  const engine = createEngine({ database });
  const own: HttpTarget[] = [];
  for (const [at, server] of servers.entries()) {
    const token = makeToken('nbp_', new Uint8Array(32).fill(100 + at));
    const other = await addOwnedAccount(engine, token);
    own.push(renaming(server, other, { token }));
  }
  await engine.committer.settle();
  await database.close();
  return {
    reads: servers.map((server) => target(server, 'GET', `/api/policies/${policy?.id}`)),
    sameAccount: servers.map((server) => renaming(server, group)),
    otherAccounts: own,
  };
}

/** Creates an account whose owner has this token. Returns the id of a group of the account. */
async function addOwnedAccount(engine: Engine, token: string): Promise<string> {
  const { database, newId, now } = engine;
  const [owner, group] = [newId(), newId()];
  const account = await addAccount(database, newId());
  const objects = firstObjects(engine)(account, { id: owner, name: 'owner' });
  await putObjects(engine, account, () =>
    [...objects, { id: group, kind: 'Group', spec: { name: 'To be renamed', peers: {} }, derived: {} }].map((object) =>
      storedObject(engine, object, now()),
    ),
  );
  const expiresAt = new Date(Date.now() + 86_400_000).toISOString();
  const hash = hashToken(token);
  await insertToken(database, {
    ...{ account, id: newId(), user: owner, name: 'bench', hash, createdBy: owner, createdAt: now(), expiresAt },
  });
  return group;
}

const kinds = ['reads', 'sameAccount', 'otherAccounts'] as const;

async function measureInTurns(
  setup: ReplicaSetup,
  { rounds, milliseconds }: Scale,
): Promise<readonly ReplicaFigures[]> {
  const counts = setup.servers.map((_, at) => at + 1);
  const found = new Map<string, Sum[]>();
  // A warm-up run, so that code that is compiled at first use is compiled before the measurement.
  for (const kind of kinds) await runOn(setup, kind, counts.length, milliseconds / 2);
  for (let round = 0; round < rounds; round += 1) {
    for (const kind of kinds)
      for (const count of counts) {
        const name = `${kind} ${count}`;
        found.set(name, [...(found.get(name) ?? []), await runOn(setup, kind, count, 2 * milliseconds)]);
      }
  }
  const sumOf = (kind: (typeof kinds)[number], count: number) => middle(found.get(`${kind} ${count}`) ?? []);
  return counts.map((servers) => ({
    servers,
    reads: sumOf('reads', servers),
    sameAccount: sumOf('sameAccount', servers),
    otherAccounts: sumOf('otherAccounts', servers),
  }));
}

async function runOn(
  { url, servers, load, ...targets }: ReplicaSetup,
  kind: (typeof kinds)[number],
  count: number,
  milliseconds: number,
): Promise<Sum> {
  const pids = servers.map(({ pid }) => pid);
  const [ours, theirs] = [cpuOf(pids), await cpuOfPostgres(url)];
  const given = { targets: targets[kind].slice(0, count), clients, milliseconds };
  const result = await load.run({ type: 'http', ...given });
  const serverCpu = cpuBetween(ours, cpuOf(pids)) / result.count;
  const postgresCpu = cpuBetween(theirs, await cpuOfPostgres(url)) / result.count;
  return { perSecond: result.perSecond, longest: result.longest, serverCpu, postgresCpu };
}

function middle(sums: readonly Sum[]): Sum {
  const of = (member: keyof Sum) => median(sums.map((sum) => sum[member]));
  return {
    ...{ perSecond: of('perSecond'), longest: of('longest') },
    ...{ serverCpu: of('serverCpu'), postgresCpu: of('postgresCpu') },
  };
}

/**
 * Measures how late another server sees a write: writes on one server, one write after the other, and reads on both.
 */
async function measureLag(writer: ServedHeddle, other: ServedHeddle, writes: number): Promise<LagFigures> {
  const group = await addGroup(writer, 'To be looked at');
  const path = `/api/groups/${group}`;
  const events = [await openEvents(writer), await openEvents(other)] as const;
  const [same, there, sameEvent, otherEvent]: [number[], number[], number[], number[]] = [[], [], [], []];
  let stale = 0;
  for (let write = 0; write < writes; write += 1) {
    const name = `Looked at ${write}`;
    const seen = events.map((reader) => reader.next(name));
    const begun = performance.now();
    await request(writer, 'PUT', path, { name, peers: [] });
    const read = async (server: ServedHeddle) => {
      if (((await request(server, 'GET', path)) as { readonly name: string }).name !== name) stale += 1;
    };
    there.push(await time(() => read(other)));
    same.push(await time(() => read(writer)));
    const [atWriter = begun, atOther = begun] = await Promise.all(seen);
    sameEvent.push(atWriter - begun);
    otherEvent.push(atOther - begun);
  }
  for (const reader of events) reader.close();
  return {
    ...{ reads: 2 * writes, stale, sameMs: median(same), otherMs: median(there) },
    ...{ sameEventMs: median(sameEvent), otherEventMs: median(otherEvent) },
  };
}
