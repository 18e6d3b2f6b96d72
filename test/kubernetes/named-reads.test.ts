import { expect, onTestFinished, test } from 'vitest';
import { createNamedReads } from '../../src/features/sources/kubernetes/named-reads.ts';
import { createSecretAccess, createServiceAccess } from '../../src/features/sources/kubernetes/secret-access.ts';
import { createClient } from '../../src/kubernetes/client.ts';
import { type Answer, startConversation, statusOf } from './conversation.ts';

const secretPath = '/api/v1/namespaces/team-a/secrets/hook';
const servicePath = '/api/v1/namespaces/team-a/services/wiki';

const found = (kind: string, version: string): Answer => ({
  body: { apiVersion: 'v1', kind, metadata: { name: 'x', uid: 'u', resourceVersion: version } },
});
const absent: Answer = { status: 404, body: statusOf(404, 'NotFound', 'not found') };
const forbidden: Answer = { status: 403, body: statusOf(403, 'Forbidden', 'forbidden') };

/** Reads a Secret and a Service once, and then follows them by reading them repeatedly. */
async function following(secrets: readonly Answer[], services: readonly Answer[]) {
  const server = await startConversation({ [secretPath]: { lists: secrets }, [servicePath]: { lists: services } });
  const client = createClient({
    connection: {
      ...{ server: server.url, namespace: undefined, discardCredentials: () => undefined },
      credentials: async () => ({ tls: {}, headers: {} }),
    },
    fieldManager: 'heddle',
  });
  const changes: number[] = [];
  const asked = () => server.requests.filter((request) => request.includes('/hook')).length;
  const named = createNamedReads({
    cluster: { secrets: createSecretAccess(client, { read: true }), services: createServiceAccess(client, true) },
    onChange: () => changes.push(asked()),
    pauses: { pauseMs: 5, eachMs: 1 },
  });
  onTestFinished(async () => {
    named.stop();
    client.close();
    await server[Symbol.asyncDispose]();
  });
  const reading = named.begin();
  await reading.secrets.read('team-a', 'hook');
  await reading.services.read('team-a', 'wiki');
  named.follow(reading);
  return { changes, asked, named };
}

test('a changed, deleted or created Secret is noticed once per change', async () => {
  const same = found('Service', '1');
  const answers = [found('Secret', '1'), found('Secret', '1'), found('Secret', '2'), found('Secret', '2'), absent];
  const { changes, asked } = await following([...answers, found('Secret', '3')], [same]);
  await expect.poll(asked).toBeGreaterThan(8);
  expect(changes).toEqual([3, 5, 6]);
});

test('a changed Service is noticed; a failed read is not a change', async () => {
  const { changes, asked } = await following(
    [found('Secret', '1'), forbidden, forbidden, found('Secret', '1')],
    [found('Service', '1'), found('Service', '1'), found('Service', '1'), found('Service', '2')],
  );
  await expect.poll(asked).toBeGreaterThan(6);
  expect(changes).toEqual([4]);
});

test('nothing is read after the reads are stopped', async () => {
  const { asked, named } = await following([found('Secret', '1')], [found('Service', '1')]);
  await expect.poll(asked).toBeGreaterThan(2);
  named.stop();
  const then = asked();
  const later = await following([found('Secret', '1')], [found('Service', '1')]);
  await expect.poll(later.asked).toBeGreaterThan(4);
  // The stop may leave one request in flight.
  expect(asked()).toBeLessThanOrEqual(then + 1);
});
