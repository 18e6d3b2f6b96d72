import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { rowsOf } from '../commit/office.ts';
import { type Received, startReceiver } from '../integrations/receiver.ts';
import { temporaryDirectory } from '../setup/database.ts';
import type { ServedHeddle } from '../setup/heddle.ts';
import { ask, openReplicas } from './replicas.ts';

const channel = `apiVersion: heddle.dev/v1
kind: NotificationChannel
metadata: { name: chat }
spec:
  type: webhook
  target: { url: { valueFrom: { envRef: HEDDLE_VALUE_CHAT } } }
  event_types: [group.add]
`;

const nameOf = ({ body }: Received) => (body['meta'] as { readonly name: string }).name;

/** Each event once, in the order in which they came first. */
function firstOf(received: readonly Received[]): readonly string[] {
  return [...new Map(received.map((one) => [one.id, nameOf(one)])).values()];
}

async function publicKeys(url: () => string): Promise<readonly string[]> {
  let database: Database | undefined;
  try {
    database = await openDatabase({ url: url() });
    return (await rowsOf(database, 'select public_key from webhook_keys')).map(({ public_key: key }) => String(key));
  } finally {
    await database?.close();
  }
}

/** Servers that run the documents of one directory, in which a channel leads to a receiver. */
async function openScene() {
  let url = '';
  const receiver = await startReceiver(() => publicKeys(() => url));
  const directory = join(await temporaryDirectory(), 'team');
  await mkdir(directory);
  await writeFile(join(directory, 'chat.yaml'), channel);
  const env = { HEDDLE_OUTBOUND_ALLOW: '127.0.0.1', HEDDLE_VALUE_CHAT: receiver.url };
  const replicas = await openReplicas(['--source', directory], env);
  onTestFinished(() => replicas[Symbol.asyncDispose]());
  url = replicas.url;
  const make = async (server: ServedHeddle, ...names: readonly string[]) => {
    for (const name of names) expect((await ask(server, 'POST', '/api/groups', { name })).status).toBe(200);
  };
  const status = async (server: ServedHeddle) => (await ask(server, 'GET', '/api/config/deliveries')).body[0];
  return { receiver, replicas, make, status };
}

test('kill -9 while a receiver reads loses nothing, and what comes again has the same id', {
  timeout: 240_000,
}, async () => {
  const { receiver, replicas, make, status } = await openScene();
  const first = await replicas.start();
  await expect.poll(() => status(first), { timeout: 20_000 }).toMatchObject({ key: 'chat', state: 'idle' });
  let killed: Promise<unknown> | undefined;
  receiver.next(204, 204, () => {
    killed = first.stop('SIGKILL');
  });
  // Whatever is not acknowledged may be there or not.
  const names = ['one', 'two', 'three', 'four', 'five'];
  await make(first, 'one', 'two');
  const acknowledged = names.slice(0, 2);
  for (const name of names.slice(2))
    await make(first, name).then(
      () => acknowledged.push(name),
      () => undefined,
    );
  await expect.poll(() => killed).toBeDefined();
  await killed;
  const second = await replicas.start();
  await make(second, 'last');
  await expect.poll(() => firstOf(receiver.accepted).at(-1), { timeout: 30_000 }).toBe('last');
  expect(firstOf(receiver.accepted).filter((name) => acknowledged.includes(name))).toEqual(acknowledged);
  const ids = receiver.attempts.map(({ id }) => id);
  // Those of the last moment come again, the one that was under way among them.
  expect(ids.slice(0, 3)).toContain(ids[3]);
  expect(ids.slice(3)).toContain(ids[2]);
  expect(receiver.faults).toEqual([]);
  await expect.poll(() => status(second)).toMatchObject({ state: 'idle', message: 'everything is delivered' });
  expect([...first.lines, ...second.lines].join('\n')).not.toContain('/hook');
});

test('of two servers one delivers at a time, in order, also when one of them is killed', {
  timeout: 240_000,
}, async () => {
  const { receiver, replicas, make, status } = await openScene();
  const [steady, shaken] = [await replicas.start(), await replicas.start()];
  await expect.poll(() => status(steady), { timeout: 20_000 }).toMatchObject({ state: 'idle' });
  let [open, most] = [0, 0];
  receiver.usually((response) => {
    open += 1;
    most = Math.max(most, open);
    setTimeout(() => {
      open -= 1;
      response.writeHead(204).end();
    }, 5);
  });
  const names = Array.from({ length: 30 }, (_, at) => `group ${at}`);
  for (const [at, name] of names.entries()) {
    await make(at % 2 === 0 || at > 15 ? steady : shaken, name);
    if (at === 15) await shaken.stop('SIGKILL');
  }
  await expect.poll(() => firstOf(receiver.attempts).length, { timeout: 30_000 }).toBe(names.length);
  expect(firstOf(receiver.attempts)).toEqual(names);
  expect(most).toBe(1);
  // At most those that there were when one server was killed, which may not have noted what it had just sent.
  expect(receiver.attempts.length - names.length).toBeLessThanOrEqual(16);
  expect(receiver.faults).toEqual([]);
});
