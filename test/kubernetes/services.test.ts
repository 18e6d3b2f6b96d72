import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { newMemoryOrigin, openSampleAccount } from '../sources/office-source.ts';
import { type Answer, listOf } from './conversation.ts';
import { cluster, resource, running } from './scripted-cluster.ts';
import { forbidden, naming, networks, path, service, spec } from './service-resources.ts';

describe('a network resource that names a Service', () => {
  test('has the address of the Service, as in the example of docs/kubernetes.md', async () => {
    const page = readFileSync('docs/kubernetes.md', 'utf8');
    const blocks = [...page.matchAll(/^```yaml\n(.*?)^```/gms)].map(([, text = '']) => parse(text));
    const { address } = await naming([service('10.0.0.7')], blocks.find(({ kind }) => kind === 'NetworkResource').spec);
    await expect.poll(address).toBe('10.0.0.7/32');
  });

  test.each<readonly [string, Answer, RegExp]>([
    ['is headless', service('None'), /has no cluster IP \(headless\)/],
    [
      'is a name outside',
      service('', { type: 'ExternalName' }),
      /refers to a name outside the cluster \(ExternalName\)/,
    ],
    ['has no address yet', service(''), /has no address yet/],
    ['has other ports', service('10.0.0.7', { ports: [{ port: 80 }] }), /has no port 443; it has 80/],
    ['is denied', forbidden, /cannot be read: the API server answered 403: .*give the server the right/],
  ])('is held back alone when the Service %s', async (_, answer, reason) => {
    const { office, address, problems } = await naming([answer]);
    await expect.poll(office.groups).toEqual(['a']);
    await expect.poll(problems).toMatchObject([{ code: 'service_unresolved', message: expect.stringMatching(reason) }]);
    expect(await address()).toBeUndefined();
  });

  test('can be inside a Network, and the path of each one without an address is reported', async () => {
    const inline = (port: number) => ({
      name: 'Cluster',
      resources: [
        { name: 'File server', address: '10.20.0.10' },
        { name: 'Wiki', serviceRef: { name: 'wiki', port } },
        { name: 'Board', serviceRef: { name: 'wiki' }, enabled: false },
      ],
    });
    const conversation = (port: number) =>
      cluster(['a'], {
        [networks]: { lists: [listOf([resource('Network', 'cluster', inline(port))], '100')] },
        [path]: { lists: [service('10.0.0.7')] },
      });
    const { office } = await running(conversation(443), { services: { read: true } });
    const addresses = async () => {
      const state = await office.engine.snapshots.fresh(office.account);
      return state
        .ofKind('NetworkResource')
        .map(({ name, spec: { address } }) => `${name} ${address}`)
        .sort();
    };
    await expect.poll(addresses).toEqual(['Board 10.0.0.7/32', 'File server 10.20.0.10/32', 'Wiki 10.0.0.7/32']);
    const { problems } = await running(conversation(8443), { services: { read: true } });
    await expect.poll(problems).toMatchObject([
      {
        ...{ code: 'service_unresolved', path: '/spec/resources/1/serviceRef' },
        message: expect.stringMatching(/has no port 8443/),
      },
    ]);
  });

  test('reads no Service of another namespace, and none unless the settings permit it', async () => {
    const elsewhere = await naming([], { ...spec, serviceRef: { name: '../../other/services/x' } });
    await expect
      .poll(elsewhere.problems)
      .toMatchObject([{ message: expect.stringContaining('is not a valid name of a Service') }]);
    const off = await naming([service('10.0.0.7')], spec, { read: false });
    await expect.poll(off.problems).toMatchObject([{ message: expect.stringContaining('`services: { read: true }`') }]);
    expect([elsewhere.gets(), off.gets()]).toEqual([[], []]);
  });
});

test('documents outside a cluster must use `address` instead of `serviceRef`', async () => {
  const office = await openSampleAccount();
  const of = (kind: string, name: string, stated: object) =>
    JSON.stringify({ apiVersion: 'heddle.dev/v1', kind, metadata: { name }, spec: stated });
  const { network: _, ...child } = spec;
  office.run([
    newMemoryOrigin(
      'files',
      [of('Network', 'cluster', { resources: [child] }), of('NetworkResource', 'wiki', spec)].join('\n---\n'),
    ),
  ]);
  const hint = '`serviceRef` names a Service, which works only for resources in a cluster; write `address` here';
  const named = async () =>
    (await office.statusOf('files')).problems?.flatMap(({ path, message }) => (message === hint ? [path] : []));
  await expect.poll(named).toEqual(['/spec/resources/0/serviceRef', '/spec/serviceRef']);
});
