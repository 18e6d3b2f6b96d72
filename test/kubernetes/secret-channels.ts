import { expect } from 'vitest';
import { sealContextOf } from '../../src/model/schema/secret-fields.ts';
import { type Answer, type Conversation, statusOf } from './conversation.ts';
import { cluster, group, groups, listed, resource, running } from './scripted-cluster.ts';

export const channels = '/apis/heddle.dev/v1/notificationchannels';
const secretPath = '/api/v1/namespaces/team-a/secrets/hook';

/** Returns a channel with a header that refers to a key of a Secret. */
export function channel(name: string, key = 'authorization', secret = 'hook') {
  const headers = { Authorization: { valueFrom: { secretKeyRef: { name: secret, key } } } };
  const target = { url: 'https://hooks.example.com/mesh', headers };
  return resource('NotificationChannel', name, { type: 'webhook', target, event_types: ['user.join'] });
}

/** Returns the answer with the Secret `hook`. `data` is in base64. */
export function secret(data: Readonly<Record<string, string>>, type = 'Opaque'): Answer {
  return {
    body: { ...{ apiVersion: 'v1', kind: 'Secret', type, data }, metadata: { name: 'hook', resourceVersion: '1' } },
  };
}

export const base64 = (text: string) => Buffer.from(text).toString('base64');
export const holding = (text: string) => secret({ authorization: base64(text) });
export const absent: Answer = { status: 404, body: statusOf(404, 'NotFound', 'secrets "hook" not found') };

/** Returns the conversation of a cluster with channels and the Secret that they refer to. */
export function withChannels(
  names: readonly string[],
  answers: readonly Answer[],
  others: Conversation = {},
): Conversation {
  return cluster(['a'], {
    [channels]: {
      lists: [listed(...names.map((name) => channel(name)))],
    },
    [secretPath]: { lists: answers },
    ...others,
  });
}

/** Runs a cluster with channels that refer to a Secret. */
export async function reading(conversation: Conversation, secrets: { readonly read?: boolean } = { read: true }) {
  const found = await running(conversation, { secrets });
  const { office, server } = found;
  const state = () => office.engine.snapshots.fresh(office.account);
  return {
    ...found,
    /** Returns the `Authorization` header of the channel in plain text, or `undefined` when it has none. */
    async header(name = 'web') {
      const object = (await state()).findByKey('NotificationChannel', name);
      const target = object?.spec['target'] as { readonly headers?: Readonly<Record<string, string>> } | undefined;
      const sealed = target?.headers?.['Authorization'];
      if (object === undefined || sealed === undefined) return undefined;
      const context = sealContextOf(office.account, object.id, ['target', 'headers', 'Authorization']);
      return office.engine.planEnvironment.vault.open(sealed, context);
    },
    revision: async () => (await state()).revision,
    gets: () => server.requests.filter((request) => request === `GET ${secretPath}`).length,
    /** Makes the server reconcile again by adding a group, and waits until the group was created. */
    async touch(name: string) {
      server.say(groups, { type: 'ADDED', object: group(name) });
      await expect.poll(office.groups).toContain(name);
    },
  };
}
