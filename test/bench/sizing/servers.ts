import { setTimeout as delay } from 'node:timers/promises';
import type { ServedHeddle } from '../../setup/heddle.ts';
import type { HttpLoad, HttpTarget, LoadGenerator, LoadResult } from '../load.ts';
import { request, serve, token } from '../served.ts';
import { median, time } from '../timing.ts';
import type { Memory } from './figures.ts';
import { forgetPeak, memoryOf } from './process.ts';
import type { DiskUse, Storage } from './storage.ts';

/** A server that was started on an empty database, with its memory and disk use. */
export interface Fresh {
  readonly storage: Storage;
  readonly server: ServedHeddle;
  readonly memory: Pick<Memory, 'starting' | 'empty'>;
  readonly disk: DiskUse;
}

/** Time for which a server is left idle before its memory is read, in milliseconds. */
const settleMs = 2000;

/** Starts a server on an empty database and measures its memory and disk use. */
export async function startFresh(storage: Storage): Promise<Fresh> {
  const server = await serve(storage.flags);
  await delay(settleMs);
  const { peak: starting, resident: empty } = memoryOf(server.pid);
  forgetPeak(server.pid);
  return { storage, server, memory: { starting, empty }, disk: await storage.use() };
}

/**
 * Stops a server and starts it again with the account that it has now. Returns the median start time and the memory
 * after the last start.
 */
export async function startAgain(
  { storage, server, memory }: Fresh,
  rounds: number,
): Promise<{ readonly server: ServedHeddle; readonly startMs: number; readonly memory: Memory }> {
  const { peak } = memoryOf(server.pid);
  const taken: number[] = [];
  let next = server;
  for (let round = 0; round < rounds; round += 1) {
    await next.stop();
    taken.push(
      await time(async () => {
        next = await serve(storage.flags);
        // The first request that needs the account loads it.
        await request(next, 'GET', '/api/accounts');
      }),
    );
  }
  await delay(settleMs);
  const loaded = memoryOf(next.pid).resident;
  return { server: next, startMs: median(taken), memory: { ...memory, peak, loaded } };
}

/** Returns the target of a request that the owner sends. */
export function target(
  { url }: Pick<ServedHeddle, 'url'>,
  method: HttpTarget['method'],
  path: string,
  more: Partial<HttpTarget> = {},
): HttpTarget {
  return { url, method, path, token, ...more };
}

/** A load, and the name by which its results are found. */
export interface NamedLoad extends Pick<HttpLoad, 'targets' | 'clients'> {
  readonly name: string;
}

/**
 * Runs all loads in turns, round by round, because the load of the machine varies. Returns the medians by name. A
 * warm-up run of each load comes first, so that code that is compiled at first use is compiled before the measurement.
 */
export async function runInTurns(
  load: LoadGenerator,
  loads: readonly NamedLoad[],
  { rounds, milliseconds }: { readonly rounds: number; readonly milliseconds: number },
): Promise<(name: string) => LoadResult> {
  const results = new Map<string, LoadResult[]>(loads.map(({ name }) => [name, []]));
  const run = ({ targets, clients }: NamedLoad, length: number) =>
    load.run({ type: 'http', targets, clients, milliseconds: length });
  for (const one of loads) await run(one, milliseconds / 3);
  for (let round = 0; round < rounds; round += 1)
    for (const one of loads) results.get(one.name)?.push(await run(one, milliseconds));
  return (name) => middle(results.get(name) ?? []);
}

function middle(results: readonly LoadResult[]): LoadResult {
  const of = (member: keyof LoadResult) => median(results.map((result) => result[member]));
  return { count: of('count'), perSecond: of('perSecond'), median: of('median'), longest: of('longest') };
}

/** Creates a group that no source declares. Returns its id. */
export async function addGroup(server: ServedHeddle, name: string): Promise<string> {
  return ((await request(server, 'POST', '/api/groups', { name })) as { readonly id: string }).id;
}

/** Returns a target that renames the group: a single change, which every load makes many times. */
export function renaming(server: ServedHeddle, group: string, more: Partial<HttpTarget> = {}): HttpTarget {
  return target(server, 'PUT', `/api/groups/${group}`, { body: '{"name":"Renamed %n","peers":[]}', ...more });
}

/** Returns the number of the newest revision. */
export async function revisionOf(server: ServedHeddle): Promise<number> {
  return ((await request(server, 'GET', '/api/config/status')) as { readonly revision: number }).revision;
}
