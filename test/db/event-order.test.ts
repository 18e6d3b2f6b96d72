import pg from 'pg';
import { expect, test } from 'vitest';
import { readWork } from '../../src/db/deliveries/work.ts';
import { recordEvents } from '../../src/db/logs/events.ts';
import { createObject } from '../../src/objects/objects.ts';
import { actor, newOffice } from '../commit/office.ts';
import { present } from '../setup/present.ts';

const limits = { events: 100, bytes: 1_000_000 };
const channel = { type: 'webhook', target: null, event_types: ['group.add'], enabled: true };

test('events are delivered in the order of their numbers, however long a transaction takes', async () => {
  await using office = await newOffice('postgres');
  const { engine, account, call, database } = office;
  const kind = (name: string) => engine.registry.get(name);
  const made = await createObject(engine, call, kind('NotificationChannel'), channel, { strict: false });
  const seen = async () =>
    (present(await readWork(database, { account, channel: made.object.id, feed: 'audit' }, limits)).events ?? []).map(
      ({ target_id }) => target_id,
    );
  const slow = new pg.Client({ connectionString: present(office.made.url) });
  await slow.connect();
  try {
    const event = (target: string) => ({ code: 'dashboard.login', target, meta: {} }) as const;
    // The writer takes its numbers, writes its events and does not commit yet.
    const clients: Promise<unknown>[] = [];
    const held = database.withAccountLock(account, async (access) => {
      await recordEvents(access, account, { actor, at: engine.now(), events: [event('first'), event('second')] });
      // Two more writers arrive before the commit: one only records an event, the other makes a revision.
      clients.push(recordEvents(database, account, { actor, at: engine.now(), events: [event('third')] }));
      clients.push(createObject(engine, call, kind('Group'), { name: 'late' }, { strict: false }));
      await waiting(slow, 2);
      expect(await seen()).toEqual([]);
    });
    await held;
    await Promise.all(clients);
    expect((await seen()).slice(0, 2)).toEqual(['first', 'second']);
    expect(await seen()).toHaveLength(4);
  } finally {
    await slow.end();
  }
});

/** Waits until `count` sessions of this database wait for a lock. */
async function waiting(client: pg.Client, count: number): Promise<void> {
  await expect
    .poll(async () => {
      const text = `select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      return (await client.query<{ readonly n: number }>(text)).rows[0]?.n;
    })
    .toBe(count);
}

test('the event number of a failed transaction is used again, without a gap for readers', async () => {
  await using office = await newOffice('postgres');
  const { engine, account, call, database } = office;
  const kind = engine.registry.get('NotificationChannel');
  const made = await createObject(engine, call, kind, channel, { strict: false });
  const event = { code: 'dashboard.login', target: 'u', meta: {} } as const;
  const record = { actor, at: engine.now(), events: [event] };
  const failing = database.withAccountLock(account, async (access) => {
    await recordEvents(access, account, record);
    throw new Error('taken back');
  });
  await expect(failing).rejects.toThrow('taken back');
  await recordEvents(database, account, record);
  const { row, events } = present(
    await readWork(database, { account, channel: made.object.id, feed: 'audit' }, limits),
  );
  expect(events.map(({ id }) => id)).toEqual([row.cursor + 1]);
});
