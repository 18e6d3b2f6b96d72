import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type Client, createClient } from '../../src/kubernetes/client.ts';
import { connectByKubeconfig } from '../../src/kubernetes/connection.ts';
import { openSampleAccount } from '../sources/office-source.ts';
import { crowdOf } from './crowd.ts';
import { installDefinitions } from './definitions.ts';
import { expired } from './expired-certificate.ts';
import { seededRandom } from './mutate.ts';
import { openKubeProxy } from './proxy.ts';
import { type ApiServer, startApiServer } from './server.ts';

let server: ApiServer;
let client: Client;

// Uses a separate API server: these tests stop it, and change its store and its certificate.
beforeAll(async () => {
  server = await startApiServer();
  client = createClient({ connection: await connectByKubeconfig(server.kubeconfig), fieldManager: 'test' });
  await installDefinitions(client);
});

afterAll(async () => {
  client.close();
  await server[Symbol.asyncDispose]();
});

async function follow(namespace: string, kubeconfigFile = server.kubeconfig) {
  const crowd = crowdOf(client, namespace);
  await crowd.begin();
  const office = await openSampleAccount();
  office.run([], { clusters: [{ name: 'k8s', kubeconfigFile, namespaces: [{ names: [namespace] }] }] });
  return {
    ...office,
    crowd,
    mismatches: () => crowd.mismatches(office.engine, office.account),
    state: async () => (await office.statusOf(`k8s.${namespace}`)).state,
    message: async () => (await office.statusOf(`k8s.${namespace}`)).message,
  };
}

test('after a restart with a compacted store every watch gets 410, and the changes made meanwhile are applied', async () => {
  const proxy = await openKubeProxy(server.kubeconfig, seededRandom(1));
  onTestFinished(() => proxy[Symbol.asyncDispose]());
  const { crowd, groups, state, mismatches } = await follow('compacted', proxy.kubeconfig);
  await crowd.putAll(['a', 'b', 'c']);
  await expect.poll(mismatches).toEqual([]);
  // Simulates a load balancer whose clients do not notice that another API server is now behind it.
  proxy.hold();
  await server.stop('SIGKILL');
  await server.start();
  await crowd.remove(['a']);
  await crowd.putAll(['b', 'd'], (name) => ({ name: `${name} again` }));
  await server.compact();
  const before = proxy.passed.length;
  proxy.release();
  await expect.poll(mismatches).toEqual([]);
  expect(await groups()).toEqual(['b', 'c', 'd']);
  expect(proxy.passed.slice(before)).toContain('EXPIRED /apis/heddle.dev/v1/groups');
  // The state of the source is stored after its objects.
  await expect.poll(state).toBe('applied');
});

test('a new certificate and token make the source unavailable until its kubeconfig file contains them', async () => {
  const { crowd, groups, state, message, mismatches } = await follow('renewed');
  await crowd.putAll(['a']);
  await expect.poll(mismatches).toEqual([]);
  await server.stop();
  await server.renew();
  await server.start();
  await expect.poll(message).toMatch(/kind Group cannot be read: https:.*certificate/);
  expect(await state()).toBe('unavailable');
  expect(await groups()).toEqual(['a']);
  await server.writeKubeconfig();
  await crowd.putAll(['b']);
  await expect.poll(mismatches).toEqual([]);
  await expect.poll(state).toBe('applied');
});

// The API server starts three times, and retries follow at increasing intervals, so the test takes long.
test('an expired certificate makes the source unavailable until it is replaced', async () => {
  const { crowd, groups, state, message, mismatches } = await follow('ended');
  await crowd.putAll(['a']);
  await expect.poll(mismatches).toEqual([]);
  await server.stop();
  await server.renew(expired);
  // The kubeconfig file trusts the certificate, so its expiry is the only fault.
  await server.start();
  await server.writeKubeconfig();
  await expect.poll(message).toMatch(/cannot be read: https:.*certificate has expired/);
  expect([await state(), await groups()]).toEqual(['unavailable', ['a']]);
  await server.stop();
  await server.renew();
  await server.start();
  await server.writeKubeconfig();
  await crowd.putAll(['b']);
  await expect.poll(mismatches).toEqual([]);
  // The watch of another kind may be the last one to be retried.
  await expect.poll(state).toBe('applied');
  expect(await groups()).toEqual(['a', 'b']);
});
