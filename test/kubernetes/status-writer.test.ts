import { expect, it, onTestFinished } from 'vitest';
import {
  createStatusWriter,
  type StatusTarget,
  type WrittenStatus,
} from '../../src/features/sources/kubernetes/status/status-writer.ts';
import { createClient } from '../../src/kubernetes/client.ts';
import { type Answer, startConversation } from './conversation.ts';

const pathOf = (name: string) => `/apis/heddle.dev/v1/namespaces/team-a/groups/${name}/status`;
const events = '/apis/events.k8s.io/v1/namespaces/team-a/events';
const accepted: Answer = {
  body: { apiVersion: 'heddle.dev/v1', kind: 'Group', metadata: { name: 'devs', resourceVersion: '8' } },
};
const target: StatusTarget = {
  ...{ apiVersion: 'heddle.dev/v1', kind: 'Group', plural: 'groups', namespace: 'team-a', name: 'devs' },
  ...{ uid: 'uid-devs', version: '7', shown: undefined },
};

function status(message: string, at = '2026-01-01T00:00:00Z'): WrittenStatus {
  const condition = { type: 'Ready', status: 'True', reason: 'Applied', message, observedGeneration: 1 } as const;
  return { conditions: [{ ...condition, lastTransitionTime: at }] };
}

async function writer(...writes: readonly Answer[]) {
  const server = await startConversation({
    [pathOf('devs')]: { writes },
    [pathOf('ops')]: { writes: [accepted] },
    [events]: { writes: [accepted] },
  });
  const connection = {
    server: server.url,
    namespace: undefined,
    credentials: async () => ({ tls: {}, headers: {} }),
    discardCredentials() {},
  };
  const client = createClient({ connection, fieldManager: 'heddle' });
  const made = createStatusWriter(client, { instance: 'test', onError() {} });
  onTestFinished(async () => {
    made.stop();
    client.close();
    await server[Symbol.asyncDispose]();
  });
  const statuses = (name: string) => server.requests.filter((line) => line.startsWith(`PATCH ${pathOf(name)}`)).length;
  return { ...made, statuses };
}

/**
 * Waits until all writes of the first resource are done: writes another resource twice after it, then checks the number
 * of writes of the first.
 */
async function settled({ put, statuses }: Awaited<ReturnType<typeof writer>>, expected: number): Promise<void> {
  for (const [at, message] of ['one', 'two'].entries()) {
    put({ ...target, name: 'ops' }, status(message));
    await expect.poll(() => statuses('ops')).toBe(at + 1);
  }
  await expect.poll(() => statuses('devs')).toBe(expected);
}

it('a status reported again before the resource shows it is written once, whatever its transition time', async () => {
  const made = await writer(accepted);
  made.put(target, status('applied'));
  await expect.poll(() => made.statuses('devs')).toBe(1);
  made.put(target, status('applied', '2026-01-01T00:00:09Z'));
  await settled(made, 1);
});

it('a status is written again when the resource has a new version that does not show it', async () => {
  const made = await writer(accepted);
  made.put(target, status('applied'));
  await expect.poll(() => made.statuses('devs')).toBe(1);
  made.put({ ...target, version: '8' }, status('applied'));
  await settled(made, 2);
});

it('another status is written, and then the first one again', async () => {
  const made = await writer(accepted);
  for (const [at, message] of ['applied', 'waits', 'applied'].entries()) {
    made.put(target, status(message));
    await expect.poll(() => made.statuses('devs')).toBe(at + 1);
  }
  await settled(made, 3);
});

it('E143 a status that the API server refused is written again', async () => {
  const refused = { status: 500, body: { kind: 'Status', message: 'not now', code: 500 } };
  const made = await writer(refused, accepted);
  made.put(target, status('applied'));
  await settled(made, 2);
});
