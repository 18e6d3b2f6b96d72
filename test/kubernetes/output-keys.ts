import { findUnreadOutputs } from '../../src/features/config/plans/outputs.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { type Answer, type Conversation, listOf, statusOf } from './conversation.ts';
import { cluster, resource, running } from './scripted-cluster.ts';

export const keys = '/apis/heddle.dev/v1/setupkeys';
const secrets = '/api/v1/namespaces/team-a/secrets';
export const status = '/apis/heddle.dev/v1/namespaces/team-a/setupkeys/ci/status';
export const spec = { name: 'CI', type: 'reusable', expires_in: 86_400 };
export const named = { 'heddle.dev/output-secret': 'enrol' };

export const absent: Answer = { status: 404, body: statusOf(404, 'NotFound', 'not found') };
export const made: Answer = { status: 201, body: { metadata: { name: 'enrol', resourceVersion: '1' } } };
export const forbidden: Answer = { status: 403, body: statusOf(403, 'Forbidden', 'secrets is forbidden') };

/**
 * Returns the conversation of a cluster with one setup key, the Secret that it names, and the answers to writes of that
 * Secret.
 */
export function withKey(found: readonly Answer[], writes: readonly Answer[], others: Conversation = {}): Conversation {
  return cluster(['a'], {
    [keys]: { lists: [listOf([resource('SetupKey', 'ci', spec, 'team-a', named)], '100')] },
    [secrets]: { writes },
    [`${secrets}/enrol`]: { lists: found, writes },
    [status]: { writes: [{ body: { metadata: { name: 'ci', resourceVersion: '1' } } }] },
    ...others,
  });
}

/** Runs a cluster with a setup key that names an output Secret. */
export async function writing(conversation: Conversation, settings = { write: true }) {
  const found = await running(conversation, { secrets: settings });
  const { office, server } = found;
  const bodies = (): readonly JsonObject[] => server.bodies.map((body) => JSON.parse(body));
  const written = () => bodies().filter(({ kind }) => kind === 'Secret');
  return {
    ...found,
    written,
    /** Returns the plain text of a key in the Secret that was written last. */
    value(key = 'key') {
      const data = (written().at(-1)?.['data'] ?? {}) as Readonly<Record<string, string>>;
      return Buffer.from(data[key] ?? '', 'base64').toString();
    },
    /** Returns the Secret that was written last, as the API server then stores it. */
    kept: (): Answer => {
      const { metadata, ...rest } = written().at(-1) as { readonly metadata: object };
      return { body: { ...rest, metadata: { ...metadata, uid: 'uid-enrol', resourceVersion: '7' } } };
    },
    /** Returns the last status written for the setup key. */
    shown: () =>
      bodies()
        .filter(({ kind, status: of }) => kind === 'SetupKey' && of !== undefined)
        .at(-1)?.['status'] as JsonObject,
    unread: async () => (await findUnreadOutputs(office.engine, office.account, 'k8s.team-a')).size,
    async key() {
      return (await office.engine.snapshots.fresh(office.account)).findByKey('SetupKey', 'ci');
    },
  };
}
