import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../src/db/database.ts';
import { credentials, startBucket } from '../integrations/streaming/aws.ts';
import { temporaryDirectory } from '../setup/database.ts';
import { type ServedHeddle, serveHeddle } from '../setup/heddle.ts';
import { startPostgres } from '../setup/server.ts';
import { ask, token } from './replicas.ts';

const stream = (endpoint: string) => `apiVersion: heddle.dev/v1
kind: EventStreaming
metadata: { name: archive }
spec:
  platform: s3
  config:
    access_key_id: { valueFrom: { envRef: HEDDLE_VALUE_KEY } }
    secret_access_key: { valueFrom: { envRef: HEDDLE_VALUE_SECRET } }
    bucket_name: events
    region: ${credentials.region}
    endpoint: ${endpoint}
`;

/**
 * Starts a separate Postgres, and servers that run the documents of one directory, in which a stream writes to a
 * bucket.
 */
async function openScene() {
  const postgres = await startPostgres();
  onTestFinished(() => postgres[Symbol.asyncDispose]());
  const bucket = await startBucket('events');
  const directory = join(await temporaryDirectory(), 'team');
  await mkdir(directory);
  await writeFile(join(directory, 'archive.yaml'), stream(bucket.url));
  const dataDir = await temporaryDirectory();
  const env = {
    ...{ HEDDLE_BOOTSTRAP_TOKEN: token, HEDDLE_SECRET_KEY: Buffer.alloc(32, 5).toString('base64'), HEDDLE_LEASE: '3s' },
    HEDDLE_OUTBOUND_ALLOW: '127.0.0.1',
    ...{ HEDDLE_VALUE_KEY: credentials.access_key_id, HEDDLE_VALUE_SECRET: credentials.secret_access_key },
  };
  const flags = ['--database-url', postgres.url(), '--data-dir', dataDir, '--source', directory];
  const lines: string[] = [];
  const names = () =>
    [...bucket.objects.values()].flatMap(({ events }) => events).map(({ meta }) => (meta as { name?: string }).name);
  return {
    ...{ postgres, bucket, lines, names },
    async start(): Promise<ServedHeddle> {
      const server = await serveHeddle(flags, { env });
      onTestFinished(async () => void (await server.stop('SIGKILL')));
      return server;
    },
    /** Adds events from some minutes ago, which are sent without waiting for further events. */
    happened: (...names: readonly string[]) => addEvents(postgres.url(), names),
    status: async (server: ServedHeddle) => (await ask(server, 'GET', '/api/config/deliveries')).body[0],
  };
}

async function addEvents(url: string, names: readonly string[]): Promise<void> {
  const database = await openDatabase({ url, poolSize: 1 });
  try {
    await database.asOwner(async (run) => {
      await run(
        `with head as (update accounts set audit_sequence = audit_sequence + cardinality($1::text[]) returning account_id, audit_sequence)
        insert into audit_events (account_id, id, revision, created_at, activity_code, initiator_id, initiator_name, initiator_email, target_id, meta)
        select account_id, audit_sequence - cardinality($1::text[]) + at, 1, now() - interval '5 minutes', 'group.add', 'u1', 'Ana', '', 'g1',
          jsonb_build_object('name', name)
        from head, unnest($1::text[]) with ordinality as x(name, at)`,
        [names],
      );
    });
  } finally {
    await database.close();
  }
}

test('after kill -9 during an upload to a bucket, the same object is uploaded again and no event is lost', async () => {
  const { bucket, start, happened, status, names } = await openScene();
  const first = await start();
  await expect.poll(() => status(first)).toMatchObject({ key: 'archive', type: 's3' });
  let killed: Promise<unknown> | undefined;
  bucket.next(() => {
    killed = first.stop('SIGKILL');
  });
  await happened('one', 'two', 'three');
  await expect.poll(() => killed).toBeDefined();
  await killed;
  await happened('four');
  const second = await start();
  await expect.poll(() => names().slice(-4)).toEqual(['one', 'two', 'three', 'four']);
  const [lost, again] = bucket.attempts;
  expect([again?.key, again?.body]).toEqual([lost?.key, lost?.body]);
  expect(bucket.attempts.length - bucket.accepted.length).toBe(1);
  expect(bucket.faults).toEqual([]);
  await expect.poll(() => status(second)).toMatchObject({ failures: 0, setAsideCount: 0 });
  const logged = [...first.lines, ...second.lines].join('\n');
  expect(logged).not.toContain(credentials.secret_access_key);
  expect(logged).not.toContain(credentials.access_key_id);
});

test('after Postgres is killed during an upload to a bucket, the same object is uploaded again', async () => {
  const { postgres, bucket, start, happened, status, names } = await openScene();
  const server = await start();
  await expect.poll(() => status(server)).toMatchObject({ key: 'archive' });
  bucket.next(async (response) => {
    await postgres.stop('kill');
    response.writeHead(200, { etag: '"e"' }).end();
    await postgres.start();
  });
  await happened('one', 'two');
  await expect.poll(() => bucket.attempts.length).toBe(2);
  await expect.poll(async () => (await ask(server, 'GET', '/readyz')).status).toBe(200);
  await happened('three');
  await expect.poll(() => names().slice(-3)).toEqual(['one', 'two', 'three']);
  const [lost, again] = bucket.attempts;
  expect([again?.key, again?.body]).toEqual([lost?.key, lost?.body]);
  expect(bucket.faults).toEqual([]);
});
