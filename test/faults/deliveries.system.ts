import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../src/db/database.ts';
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

const idsOf = (received: readonly Received[]) => received.map(({ id }) => id);

/** Returns the name of each event once, in the order of first arrival. */
function firstOf(received: readonly Received[]): readonly string[] {
  return [...new Map(received.map((one) => [one.id, nameOf(one)])).values()];
}

/** Queries the database directly, whatever the servers do. */
async function rowsAt(url: string, sql: string) {
  const database = await openDatabase({ url });
  try {
    return await rowsOf(database, sql);
  } finally {
    await database.close();
  }
}

/** Returns the stored cursor of the channel, and the process id of the server that has its delivery lease. */
async function notedAt(url: string): Promise<{ readonly cursor: number; readonly pid: number | undefined }> {
  const [row] = await rowsAt(
    url,
    `select cursor, (select owner from leases l where l.account_id = d.account_id and l.name = 'delivery/' || d.channel_id
      and l.until > clock_timestamp()) as owner from deliveries d`,
  );
  // The owner consists of the name of the machine, the process id, and an id.
  const owner = row?.['owner'];
  return { cursor: Number(row?.['cursor']), pid: typeof owner === 'string' ? Number(owner.split(' ')[1]) : undefined };
}

/** Returns the message ids of all events after a cursor, in order. */
async function messagesBehind(url: string, cursor: number): Promise<readonly string[]> {
  const rows = await rowsAt(
    url,
    `select account_id, id from audit_events where activity_code = 'group.add' and id > ${cursor} order by id`,
  );
  return rows.map(({ account_id: account, id }) => `evt_${account}_${id}`);
}

/** Starts servers that run the documents of one directory, in which a channel delivers to a receiver. */
async function openScene() {
  let url = '';
  const receiver = await startReceiver(async () =>
    (await rowsAt(url, 'select public_key from webhook_keys')).map(({ public_key: key }) => String(key)),
  );
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

test('kill -9 during a delivery loses no event, and repeated events keep their ids', async () => {
  const { receiver, replicas, make, status } = await openScene();
  const first = await replicas.start();
  await expect.poll(() => status(first)).toMatchObject({ key: 'chat', state: 'idle' });
  let killed: Promise<unknown> | undefined;
  receiver.next(204, 204, () => {
    killed = first.stop('SIGKILL');
  });
  // Writes that are not acknowledged may have been committed or not.
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
  const sent = idsOf(receiver.attempts);
  const { cursor } = await notedAt(replicas.url);
  const second = await replicas.start();
  await make(second, 'last');
  await expect.poll(() => firstOf(receiver.accepted).at(-1)).toBe('last');
  expect(firstOf(receiver.accepted).filter((name) => acknowledged.includes(name))).toEqual(acknowledged);
  // The messages that were sent but not recorded arrive again, including the message that was in flight during the
  // kill. No other message is repeated.
  expect(sent).toHaveLength(3);
  const behind = await messagesBehind(replicas.url, cursor);
  expect(behind).toContain(sent[2]);
  expect(idsOf(receiver.attempts)).toEqual([...sent, ...behind]);
  expect(receiver.faults).toEqual([]);
  await expect.poll(() => status(second)).toMatchObject({ state: 'idle', message: 'everything is delivered' });
  expect([...first.lines, ...second.lines].join('\n')).not.toContain('/hook');
});

test('one of two servers delivers at a time, in order; after kill -9 the other one repeats unrecorded deliveries', async () => {
  const { receiver, replicas, make, status } = await openScene();
  const servers = [await replicas.start(), await replicas.start()] as const;
  const idle = { state: 'idle', message: 'everything is delivered' };
  await expect.poll(() => status(servers[0])).toMatchObject(idle);
  let [open, most] = [0, 0];
  const hanging = Promise.withResolvers<void>();
  receiver.usually((response) => {
    open += 1;
    most = Math.max(most, open);
    response.on('close', () => {
      open -= 1;
    });
    if (receiver.attempts.length === 14) hanging.resolve();
    else setTimeout(() => response.writeHead(204).end(), 5);
  });
  const names = Array.from({ length: 30 }, (_, at) => `group ${at}`);
  const inTurns = async (some: readonly string[]) => {
    for (const [at, name] of some.entries()) await make(servers[at % 2 === 0 ? 0 : 1], name);
  };
  await inTurns(names.slice(0, 10));
  await expect.poll(() => status(servers[0])).toMatchObject(idle);
  await inTurns(names.slice(10, 20));
  await hanging.promise;
  const sent = idsOf(receiver.attempts);
  const { cursor, pid } = await notedAt(replicas.url);
  const [killed, steady] = servers[0].pid === pid ? servers : [servers[1], servers[0]];
  expect(killed.pid).toBe(pid);
  await killed.stop('SIGKILL');
  await make(steady, ...names.slice(20));
  await expect.poll(() => firstOf(receiver.attempts).length).toBe(names.length);
  await expect.poll(() => status(steady)).toMatchObject(idle);
  expect(firstOf(receiver.attempts)).toEqual(names);
  expect(most).toBe(1);
  const behind = await messagesBehind(replicas.url, cursor);
  // All messages except those of the last run were recorded.
  expect(sent.slice(0, 10).filter((id) => behind.includes(id))).toEqual([]);
  expect(behind).toContain(sent[13]);
  expect(idsOf(receiver.attempts)).toEqual([...sent, ...behind]);
  expect(receiver.faults).toEqual([]);
});
