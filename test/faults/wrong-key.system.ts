import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { newKeyText } from '../../src/db/sealing/keys.ts';
import type { Call } from '../api/setup.ts';
import { asOperator, operatorToken } from '../api/setup.ts';
import { copyEmbedded, emptyDatabase, temporaryDirectory } from '../setup/database.ts';
import { type ServedHeddle, serveHeddle } from '../setup/heddle.ts';
import { callerOf } from './enrolling.ts';
import { token } from './replicas.ts';

const channels = '/api/integrations/notifications/channels';
const target = { url: 'https://x.example.com', headers: { 'X-Key': 'hunter2' } };
const webhook = { type: 'webhook', event_types: ['user.join'], enabled: true, target };

/** Returns the status and the message of the answers to `/healthz`, `/readyz` and a request to the API. */
async function healthOf(server: ServedHeddle): Promise<readonly (readonly [number, string | undefined])[]> {
  const call: Call = callerOf(server);
  const answers = await Promise.all(['/healthz', '/readyz', '/api/groups'].map((path) => call('GET', path)));
  return answers.map(({ status, body }) => [status, body.message]);
}

const healthy = [
  [200, undefined],
  [200, undefined],
  [200, undefined],
];
const refusal = expect.stringMatching(
  /^the secret key of this server \(its id is [0-9a-f]{12}\) does not match the key that sealed/,
);
const unready = [
  [200, undefined],
  [503, refusal],
  [503, refusal],
];

it('a server with another secret key than the installation is not ready, reports it, and changes nothing', async () => {
  const [url, right, wrong] = [await emptyDatabase(), newKeyText(), newKeyText()];
  const dataDir = await temporaryDirectory();
  const start = (key: string) =>
    serveHeddle(['--database-url', url, '--data-dir', dataDir], {
      env: { HEDDLE_BOOTSTRAP_TOKEN: token, HEDDLE_OPERATOR_TOKEN: operatorToken, HEDDLE_SECRET_KEY: key },
    });
  await using first = await start(right);
  const made = await callerOf(first)('POST', channels, webhook);
  expect([made.status, await healthOf(first)]).toEqual([200, healthy]);
  await using foreign = await start(wrong);
  expect(await healthOf(foreign)).toEqual(unready);
  expect(foreign.lines.filter((line) => line.includes('not ready: the secret key of this server'))).toHaveLength(1);
  // A server with both keys is ready, and its rotation makes the new key the key of the installation. The first server
  // then has the wrong key.
  await using both = await start(`${wrong},${right}`);
  expect(await healthOf(both)).toEqual(healthy);
  const rotated = await callerOf(both)('POST', '/api/config/secrets/rotate', {}, asOperator);
  expect(rotated.status).toBe(200);
  expect((await healthOf(first))[1]).toEqual([503, refusal]);
  await using last = await start(wrong);
  expect(await healthOf(last)).toEqual(healthy);
});

it('an embedded database whose key file is lost is not served with a new key', async () => {
  const dataDir = await temporaryDirectory();
  await copyEmbedded(dataDir);
  const start = () => serveHeddle(['--data-dir', dataDir], { env: { HEDDLE_BOOTSTRAP_TOKEN: token } });
  {
    await using server = await start();
    expect(await healthOf(server)).toEqual(healthy);
    await server.stop();
  }
  await rm(join(dataDir, 'secret.key'));
  await using server = await start();
  expect(await healthOf(server)).toEqual(unready);
});
