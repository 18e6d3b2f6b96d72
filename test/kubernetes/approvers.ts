import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { type Client, createClient } from '../../src/kubernetes/client.ts';
import { connectByKubeconfig } from '../../src/kubernetes/connection.ts';
import { asObject } from '../../src/lib/json.ts';
import { render } from '../charts/render.ts';
import type { ApiServer } from './server.ts';

/** Returns a client that connects by a kubeconfig file, and impersonates `user` if given. */
export async function clientOf(kubeconfig: string, user?: string): Promise<Client> {
  const connection = await connectByKubeconfig(kubeconfig);
  const credentials = async () => {
    const { tls, headers } = await connection.credentials();
    return { tls, headers: { ...headers, ...(user === undefined ? {} : { 'impersonate-user': user }) } };
  };
  return createClient({ connection: { ...connection, credentials }, fieldManager: 'test' });
}

const policies = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolic';
const rbac = '/apis/rbac.authorization.k8s.io/v1';

/** Installs the roles of the chart, and its admission policy that decides who may approve plans. */
export async function installPolicies(client: Client): Promise<void> {
  const paths: Readonly<Record<string, string>> = {
    ClusterRole: `${rbac}/clusterroles`,
    ValidatingAdmissionPolicy: `${policies}ies`,
    ValidatingAdmissionPolicyBinding: `${policies}ybindings`,
  };
  const args = ['--kube-version', '1.37.0'];
  for (const manifest of await render({ chart: 'charts/heddle-crds', over: { unknownFields: [] }, args })) {
    const path = paths[manifest.kind];
    if (path !== undefined)
      await client.apply(`${path}/${manifest.metadata.name}`, JSON.parse(JSON.stringify(manifest)));
  }
}

interface Grant {
  readonly role: string;
  readonly user: string;
  readonly namespace: string;
}

/** Returns a client for a user, after binding the user to a role of the chart in a namespace. */
export async function userWith({ role, user, namespace }: Grant, server: ApiServer, client: Client): Promise<Client> {
  await client.apply(`${rbac}/namespaces/${namespace}/rolebindings/${user}`, {
    ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding', metadata: { name: user, namespace } },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
  });
  const own = await clientOf(server.kubeconfig, user);
  onTestFinished(() => own.close());
  return own;
}

/**
 * Returns the patches in the `kubectl patch` commands of docs/kubernetes/plans.md, with `values` inserted for the
 * placeholders.
 */
export async function patchesOnPage(resource: 'source' | 'plan', values: Readonly<Record<string, string>> = {}) {
  const page = await readFile(fileURLToPath(new URL('../../docs/kubernetes/plans.md', import.meta.url)), 'utf8');
  const commands = page.matchAll(new RegExp(`^kubectl patch ${resource} .* --type merge -p '(.*)'$`, 'gm'));
  const texts = [...commands].map(([, text = '']) => text.replace(/[A-Z]{4,}/g, (name) => values[name] ?? name));
  return texts.map((text) => asObject(JSON.parse(text)));
}
