import { expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../src/db/database.ts';
import { migrate } from '../../src/db/migrate.ts';
import { startPostgres } from '../setup/server.ts';
import { openScene } from './delivery-scene.ts';
import { apiOn } from './setup.ts';

test('killing Postgres while a receiver reads repeats one event with the same id, and loses none', async () => {
  const server = await startPostgres();
  onTestFinished(() => server[Symbol.asyncDispose]());
  const database = await openDatabase({ url: server.url(), poolSize: 4 });
  await migrate(database);
  const { api, call, receiver, channel, names, only } = await openScene((options) =>
    apiOn(database, () => database.close(), options),
  );
  await channel();
  // The first delivery creates the signing key, and the receiver fetches it while the database is available. The
  // receiver needs the key while the database is stopped.
  await api.group('one');
  await expect.poll(names).toEqual(['one']);
  receiver.next(async (response) => {
    await server.stop('kill');
    response.writeHead(204).end();
    await server.start();
  });
  await api.group('two');
  await expect.poll(() => receiver.attempts.length).toBe(2);
  await expect.poll(async () => (await call('GET', '/readyz')).status).toBe(200);
  await api.group('three');
  await expect.poll(names).toEqual(['one', 'two', 'three']);
  expect(receiver.attempts.map(({ id }) => id)).toEqual([0, 1, 1, 2].map((at) => receiver.accepted[at]?.id));
  await expect.poll(only).toMatchObject({ state: 'idle', message: 'everything is delivered' });
  expect(receiver.faults).toEqual([]);
});
