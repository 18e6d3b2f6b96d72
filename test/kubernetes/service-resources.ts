import { expect } from 'vitest';
import { type Answer, listOf, statusOf } from './conversation.ts';
import { cluster, group, groups, resource, running } from './scripted-cluster.ts';

export const networks = '/apis/heddle.dev/v1/networks';
const resources = '/apis/heddle.dev/v1/networkresources';
export const path = '/api/v1/namespaces/team-a/services/wiki';
export const spec = { network: 'cluster', name: 'Wiki', serviceRef: { name: 'wiki', port: 443 } };

export const absent: Answer = { status: 404, body: statusOf(404, 'NotFound', 'not found') };
export const forbidden: Answer = { status: 403, body: statusOf(403, 'Forbidden', 'services "wiki" is forbidden') };

/** Returns the answer with the Service `wiki`. */
export function service(clusterIP: string, more: object = {}): Answer {
  const ports = [{ port: 443 }, { port: 80 }];
  const of = { type: 'ClusterIP', clusterIP, ports, ...more };
  return {
    body: { ...{ apiVersion: 'v1', kind: 'Service', spec: of }, metadata: { name: 'wiki', resourceVersion: '1' } },
  };
}

/** Runs a cluster with a network resource that names the Service `wiki`, whose reads get these answers. */
export async function naming(answers: readonly Answer[], stated: object = spec, services = { read: true }) {
  const conversation = cluster(['a'], {
    [networks]: { lists: [listOf([resource('Network', 'cluster', { name: 'Cluster' })], '100')] },
    [resources]: { lists: [listOf([resource('NetworkResource', 'wiki', stated)], '100')] },
    [path]: { lists: answers },
  });
  const found = await running(conversation, { services });
  const { office, server } = found;
  return {
    ...found,
    async address() {
      const state = await office.engine.snapshots.fresh(office.account);
      return state.ofKind('NetworkResource').find(({ name }) => name === 'Wiki')?.spec['address'];
    },
    gets: () => server.requests.filter((request) => request.includes('/services/')),
    async touch(name: string) {
      server.say(groups, { type: 'ADDED', object: group(name) });
      await expect.poll(office.groups).toContain(name);
    },
  };
}
