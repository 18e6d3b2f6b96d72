import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest';
import { type Client, createClient } from '../../src/kubernetes/client.ts';
import { connectByKubeconfig } from '../../src/kubernetes/connection.ts';
import { openSampleAccount } from '../sources/office-source.ts';
import { crowdOf } from './crowd.ts';
import { installDefinitions } from './definitions.ts';
import { seededRandom } from './mutate.ts';
import { openKubeProxy, type Weather } from './proxy.ts';

let client: Client;

beforeAll(async () => {
  client = createClient({ connection: await connectByKubeconfig(inject('kubeconfig')), fieldManager: 'test' });
  await installDefinitions(client);
});

afterAll(() => client.close());

/** Creates a namespace that a server reads through a proxy. */
async function follow(namespace: string) {
  const crowd = crowdOf(client, namespace);
  await crowd.begin();
  const office = await openSampleAccount();
  const proxy = await openKubeProxy(inject('kubeconfig'), seededRandom(7));
  onTestFinished(() => proxy[Symbol.asyncDispose]());
  const limits = { deletes: 100, kindShare: 1, updateShare: 1 };
  const namespaces = [{ names: [namespace], limits }];
  const first = office.run([], { clusters: [{ name: 'k8s', kubeconfigFile: proxy.kubeconfig, namespaces }] });
  return { crowd, office, proxy, first };
}

const names = Array.from({ length: 60 }, (_, index) => `g${index}`);

test.each<[string, string, Weather, readonly (keyof Weather)[]]>([
  ['answers half of the requests with 429', 'busy', { busy: 0.5 }, ['busy']],
  ['cuts connections and garbles answers', 'cutting', { cut: 0.25, garbled: 0.1 }, ['cut', 'garbled']],
])(
  'when a proxy before the API server %s, no change is lost and nothing is wrongly deleted',
  async (_, namespace, weather, kinds) => {
    const { crowd, office, proxy } = await follow(namespace);
    const mismatches = () => crowd.mismatches(office.engine, office.account);
    proxy.set(weather);
    await crowd.putAll(names.slice(0, 40));
    await expect.poll(mismatches, { timeout: 120_000, interval: 500 }).toEqual([]);
    await crowd.putAll(names.slice(20, 60), (name) => ({ name: `${name} again` }));
    await crowd.remove(names.slice(0, 10));
    await expect.poll(mismatches, { timeout: 120_000, interval: 500 }).toEqual([]);
    for (const kind of kinds) expect(proxy.counts[kind], kind).toBeGreaterThan(5);
    const deleted = await office.rows("select key from changes where action = 'delete' order by key");
    expect(deleted.map(({ key }) => key)).toEqual(names.slice(0, 10).toSorted());
  },
);

test('only one of two servers writes statuses, and when it stops the other writes none of them again', async () => {
  const { crowd, office, proxy, first } = await follow('replicas');
  const mismatches = () => crowd.mismatches(office.engine, office.account);
  const second = await openKubeProxy(inject('kubeconfig'), seededRandom(8));
  onTestFinished(() => second[Symbol.asyncDispose]());
  await crowd.putAll(names.slice(0, 20));
  await expect.poll(mismatches).toEqual([]);
  const clusters = [{ name: 'k8s', kubeconfigFile: second.kubeconfig, namespaces: [{ names: ['replicas'] }] }];
  office.run([], { clusters, engine: await office.another(), leaseSeconds: 2 });
  await crowd.putAll(names.slice(20, 30));
  await expect.poll(mismatches).toEqual([]);
  const writesOf = (passed: readonly string[]) => passed.filter((line) => /^PATCH .*\/groups\//.test(line));
  expect(writesOf(proxy.passed)).toHaveLength(30);
  expect(second.passed).toEqual([]);
  await first.stop();
  await crowd.putAll(names.slice(30, 35));
  await expect.poll(mismatches).toEqual([]);
  expect(writesOf(proxy.passed)).toHaveLength(30);
  const written = () =>
    writesOf(second.passed)
      .map((line) => line.split('/').at(-2))
      .toSorted();
  // The last status may be written after its object.
  await expect.poll(written).toEqual(names.slice(30, 35));
});
