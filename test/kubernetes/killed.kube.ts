import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest';
import { type Client, createClient } from '../../src/kubernetes/client.ts';
import { connectByKubeconfig } from '../../src/kubernetes/connection.ts';
import { temporaryDirectory } from '../setup/database.ts';
import { serveHeddle } from '../setup/heddle.ts';
import { openSampleAccount } from '../sources/office-source.ts';
import { crowdOf } from './crowd.ts';
import { installDefinitions } from './definitions.ts';
import { seededRandom } from './mutate.ts';

let client: Client;

beforeAll(async () => {
  client = createClient({ connection: await connectByKubeconfig(inject('kubeconfig')), fieldManager: 'test' });
  await installDefinitions(client);
});

afterAll(() => client.close());

/**
 * Returns a function that starts a server process. The servers share a database, read a namespace, and hold leases of 3
 * seconds only.
 */
async function serversOf(namespace: string, databaseUrl: string) {
  const limits = { deletes: 1000, kindShare: 1, updateShare: 1 };
  const source = { name: 'k8s', type: 'kubernetes', kubeconfigFile: inject('kubeconfig') };
  const config = join(await temporaryDirectory(), 'heddle.yaml');
  await writeFile(
    config,
    JSON.stringify({ lease: '3s', sources: [{ ...source, namespaces: [{ names: [namespace], limits }] }] }),
  );
  const env = { HEDDLE_DATABASE_URL: databaseUrl, HEDDLE_SECRET_KEY: Buffer.alloc(32, 7).toString('base64') };
  return async () => {
    const server = await serveHeddle(['--config', config], { env });
    onTestFinished(() => server[Symbol.asyncDispose]());
    return server;
  };
}

const numbered = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => `g${from + index}`);

test('when servers are killed while 1,000 resources change, others take over without lost changes or extra deletions', async () => {
  const random = seededRandom(3);
  const removed = numbered(0, 50);
  const crowd = crowdOf(client, 'killed');
  await crowd.begin();
  const office = await openSampleAccount();
  const serve = await serversOf('killed', office.made.url ?? '');
  const again = (name: string) => ({ name: `${name} again` });
  const changes = [
    () => crowd.putAll(numbered(0, 1000)),
    () => Promise.all([crowd.putAll(numbered(300, 900), again), crowd.remove(removed)]),
  ];
  const mismatches = () => crowd.mismatches(office.engine, office.account);
  const settled = () => expect.poll(mismatches, { timeout: 120_000, interval: 500 }).toEqual([]);
  let active = await serve();
  for (const change of changes) {
    const standby = await serve();
    const changed = change();
    await delay(random() * 3500);
    await active.stop('SIGKILL');
    await changed;
    await settled();
    active = standby;
  }
  // The last server applies this change, whatever the state that the killed servers left behind.
  await crowd.putAll(numbered(980, 1000), again);
  await settled();
  const groups = (await office.engine.snapshots.fresh(office.account)).ofKind('Group').flatMap(({ key }) => key ?? []);
  expect(groups.toSorted()).toEqual(numbered(50, 1000).toSorted());
  const did = (action: string) => office.rows(`select key from changes where action = '${action}' and kind = 'Group'`);
  const deleted = (await did('delete')).map(({ key }) => String(key));
  expect(deleted.filter((key) => !removed.includes(key))).toEqual([]);
  const created = (await did('create')).flatMap(({ key }) => (typeof key === 'string' ? [key] : []));
  expect(created).toHaveLength(new Set(created).size);
});
