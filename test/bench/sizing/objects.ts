import type { SourceFile } from '../../../src/model/document.ts';
import { generateFiles } from '../../setup/generate.ts';
import type { ServedHeddle } from '../../setup/heddle.ts';
import { type LoadResult, startLoadGenerator } from '../load.ts';
import { request, token } from '../served.ts';
import type { Stand } from '../stand.ts';
import { median, time } from '../timing.ts';
import type { ObjectFigures, Scale } from './figures.ts';
import {
  addGroup,
  type Fresh,
  type NamedLoad,
  renaming,
  revisionOf,
  runInTurns,
  startAgain,
  startFresh,
  target,
} from './servers.ts';
import { type DatabaseName, type DiskUse, openStorage } from './storage.ts';

/** A server with an account to which documents were applied. */
interface Account extends Fresh {
  readonly objects: number;
  readonly files: readonly SourceFile[];
  readonly applyMs: number;
  readonly applied: DiskUse;
  readonly revision: number;
}

/**
 * Measures accounts of all sizes on one kind of database. All servers run at once, and each load alternates between
 * them.
 */
export async function measureObjects(
  stand: Stand,
  name: DatabaseName,
  scale: Scale,
): Promise<readonly ObjectFigures[]> {
  using load = startLoadGenerator();
  const accounts: Account[] = [];
  for (const size of scale.objects) accounts.push(await openAccount(stand, name, size));
  const plans = await planInTurns(accounts, scale.rounds);
  const planned = await Promise.all(accounts.map(({ storage }) => storage.use()));
  const loads: NamedLoad[] = [];
  for (const account of accounts) loads.push(...(await loadsOn(account)));
  const result = await runInTurns(load, loads, scale);
  const changed = await Promise.all(accounts.map(({ storage }) => storage.use()));
  const revisions = await Promise.all(accounts.map(({ server }) => revisionOf(server)));
  const figures: ObjectFigures[] = [];
  for (const [at, account] of accounts.entries()) {
    const { server, ...again } = await startAgain(account, scale.rounds);
    await server.stop();
    const { objects, applyMs, disk: empty, applied } = account;
    figures.push({
      ...{ objects, applyMs, planMs: median(plans[at] ?? []), ...again, ...ratesOf(objects, result) },
      disk: { empty, applied, planned: planned[at] ?? applied, changed: changed[at] ?? applied },
      plans: scale.rounds,
      changes: (revisions[at] ?? 0) - account.revision,
    });
  }
  return figures;
}

async function openAccount(stand: Stand, name: DatabaseName, objects: number): Promise<Account> {
  const fresh = await startFresh(await openStorage(stand, name));
  const { server, storage } = fresh;
  // Warm-up: code is compiled before the measurement starts.
  await request(server, 'POST', '/api/config/plans', { source: 'warm-up', files: generateFiles(100) });
  const files = generateFiles(objects);
  const applyMs = await time(() => request(server, 'POST', '/api/config/apply', { source: 'bench', files }));
  return { ...fresh, objects, files, applyMs, applied: await storage.use(), revision: await revisionOf(server) };
}

/**
 * Plans all documents of the source, one of which has changed, on each account in turn. Returns the times of each
 * account, in milliseconds.
 */
async function planInTurns(accounts: readonly Account[], rounds: number): Promise<readonly (readonly number[])[]> {
  const taken = accounts.map((): number[] => []);
  for (let round = 0; round < rounds; round += 1) {
    for (const [at, { server, files }] of accounts.entries()) {
      const [first, ...others] = files;
      const text = first?.text.replace('Generated', `Generated ${round}`) ?? '';
      const changed = [{ path: first?.path ?? '', text }, ...others];
      const body = { source: 'bench', files: changed };
      taken[at]?.push(await time(() => request(server, 'POST', '/api/config/plans', body)));
    }
  }
  return taken;
}

async function loadsOn({ server, objects }: Account): Promise<readonly NamedLoad[]> {
  const list = '/api/policies';
  const [policy] = (await request(server, 'GET', list)) as readonly { readonly id: string }[];
  const known = await etagOf(server, list);
  const writing = [renaming(server, await addGroup(server, 'To be renamed'))];
  return [
    { name: `write ${objects}`, targets: writing, clients: 1 },
    { name: `writes ${objects}`, targets: writing, clients: 16 },
    { name: `reads ${objects}`, targets: [target(server, 'GET', `${list}/${policy?.id}`)], clients: 16 },
    { name: `list ${objects}`, targets: [target(server, 'GET', list)], clients: 1 },
    { name: `page ${objects}`, targets: [target(server, 'GET', `${list}?limit=50`)], clients: 1 },
    { name: `unchanged ${objects}`, targets: [target(server, 'GET', list, { known })], clients: 16 },
  ];
}

function ratesOf(objects: number, result: (name: string) => LoadResult) {
  return {
    writeMs: result(`write ${objects}`).median,
    writes: result(`writes ${objects}`).perSecond,
    reads: result(`reads ${objects}`).perSecond,
    listMs: result(`list ${objects}`).median,
    pageMs: result(`page ${objects}`).median,
    unchanged: result(`unchanged ${objects}`).perSecond,
  };
}

async function etagOf(server: ServedHeddle, path: string): Promise<string> {
  const response = await fetch(server.url + path, { headers: { authorization: `Token ${token}` } });
  await response.arrayBuffer();
  return response.headers.get('etag') ?? '';
}
