import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { KubernetesConfig } from '../../src/model/sources/kubernetes.ts';
import { openSampleAccount } from '../sources/office-source.ts';
import { type Answer, type Conversation, type ConversationServer, listOf, startConversation } from './conversation.ts';

export const groups = '/apis/heddle.dev/v1/groups';
export const definition = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/groups.heddle.dev';
export const namespaces = '/api/v1/namespaces';

let version = 100;

/** Returns a list with the current resource version of the store. */
export function listed(...items: readonly object[]): Answer {
  return listOf(items, `${version}`);
}

/** Returns a namespace as the API server sends it. */
export function namespace(name: string, members: { readonly uid?: string; readonly phase?: string } = {}) {
  const { uid = `uid-${name}`, phase = 'Active' } = members;
  version += 1;
  const labels = { 'heddle.dev/managed': 'true' };
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name, uid, resourceVersion: `${version}`, labels },
    status: { phase },
  };
}

/** Returns a Group resource as the API server sends it. */
export function group(name: string, of = 'team-a', spec = {}) {
  return resource('Group', name, spec, of);
}

/** Returns a resource as the API server sends it. Each call uses a later generation. */
export function resource(kind: string, name: string, spec: object, of = 'team-a', annotations?: object) {
  version += 1;
  const uid = `uid-${of}-${name}`;
  const metadata = { name, namespace: of, uid, resourceVersion: `${version}`, generation: version };
  return {
    ...{ apiVersion: 'heddle.dev/v1', kind, spec },
    metadata: { ...metadata, ...(annotations && { annotations }) },
  };
}

/** Returns the answer with the CustomResourceDefinition of groups. */
export function definitionOf(uid: string, deletionTimestamp?: string): Answer {
  const metadata = {
    name: 'groups.heddle.dev',
    uid,
    resourceVersion: '1',
    ...(deletionTimestamp && { deletionTimestamp }),
  };
  return { body: { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata, spec: {} } };
}

/**
 * Returns the conversation of a cluster with the namespace `team-a`, groups in it, and the CustomResourceDefinition of
 * groups.
 */
export function cluster(names: readonly string[], others: Conversation = {}): Conversation {
  return {
    [namespaces]: { lists: [listed(namespace('team-a'), { ...namespace('other'), ...unlabelled() })] },
    [`${namespaces}/team-a`]: { lists: [{ body: namespace('team-a') }] },
    [groups]: { lists: [listed(...names.map((name) => group(name)), group('elsewhere', 'other'))] },
    [definition]: { lists: [definitionOf('first')] },
    ...others,
  };
}

function unlabelled() {
  const { metadata } = namespace('other');
  return { metadata: { ...metadata, labels: {} } };
}

async function openCluster(conversation: Conversation, settings: Partial<KubernetesConfig>) {
  const server = await startConversation(conversation);
  const folder = await mkdtemp(join(tmpdir(), 'heddle-kube-'));
  onTestFinished(async () => {
    await server[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });
  const kubeconfigFile = join(folder, 'config');
  await writeFile(kubeconfigFile, kubeconfigOf(server));
  const config: KubernetesConfig = {
    ...{ name: 'k8s', kubeconfigFile },
    namespaces: [
      { selector: { matchLabels: { 'heddle.dev/managed': 'true' } }, limits: { deletes: 50, kindShare: 1 } },
    ],
    ...settings,
  };
  return { server, config };
}

function kubeconfigOf({ url: server }: ConversationServer): string {
  return JSON.stringify({
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'test', users: [{ name: 'u', user: { token: 't' } }] },
    clusters: [{ name: 'c', cluster: { server, 'insecure-skip-tls-verify': true } }],
    contexts: [{ name: 'test', context: { cluster: 'c', user: 'u' } }],
  });
}

/** Starts a server that reads a scripted cluster. */
export async function running(conversation: Conversation, settings: Partial<KubernetesConfig> = {}) {
  const office = await openSampleAccount();
  const { server, config } = await openCluster(conversation, settings);
  const runner = office.run([], { clusters: [config] });
  const state = async () => (await office.statusOf('k8s.team-a')).state;
  const message = async () => (await office.statusOf('k8s.team-a')).message;
  const problems = async () => (await office.statusOf('k8s.team-a')).problems ?? [];
  return { office, server, config, runner, state, message, problems };
}
