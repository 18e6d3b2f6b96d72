import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { openDatabase } from '../../src/db/database.ts';
import { migrate } from '../../src/db/migrate.ts';
import { newKeyText } from '../../src/db/sealing/keys.ts';
import { createVault } from '../../src/db/sealing/vault.ts';
import { apiOn, type TestApi, token } from '../api/setup.ts';
import { migratedDatabase } from '../setup/database.ts';
import { serveHeddle } from '../setup/heddle.ts';

const rounds = 3;

it('E106 a request that is retried after kill -9 of its server is carried out exactly once', async () => {
  const url = await migratedDatabase();
  const key = newKeyText();
  const database = await openDatabase({ url });
  await migrate(database);
  const vault = createVault([new Uint8Array(Buffer.from(key, 'base64'))]);
  await using other = await apiOn(database, () => database.close(), { vault });
  const env = { HEDDLE_DATABASE_URL: url, HEDDLE_BOOTSTRAP_TOKEN: token, HEDDLE_SECRET_KEY: key };
  for (let round = 0; round < rounds; round += 1) {
    await using server = await serveHeddle([], { env });
    const name = `group-${round}`;
    const headers = {
      authorization: `Token ${token}`,
      'content-type': 'application/json',
      'idempotency-key': name,
    };
    // The first request of a server takes longest, so the random moments are close to its commit.
    const lost = fetch(`${server.url}/api/groups`, { method: 'POST', headers, body: JSON.stringify({ name }) });
    const ended = lost.then(
      () => undefined,
      () => undefined,
    );
    await delay(5 + Math.random() * 60);
    await server.stop('SIGKILL');
    await ended;
    const answer = await repeat(other, name);
    expect([answer.status, answer.body.name]).toEqual([200, name]);
    expect((await other.call('GET', `/api/groups?name=${name}`)).body).toEqual([
      expect.objectContaining({ id: answer.body.id }),
    ]);
    expect(await other.revision()).toBe(2 + round);
  }
});

/**
 * Repeats the request until it is answered, and ages the attempt that the killed server left, so that it expires at
 * once.
 */
async function repeat(api: TestApi, name: string) {
  for (;;) {
    const answer = await api.call('POST', '/api/groups', { name }, { 'idempotency-key': name });
    if (answer.status !== 409) return answer;
    await api.engine.database.asOwner([
      `update idempotency_keys set attempted_at = attempted_at - interval '31 seconds' where status is null`,
    ]);
  }
}
