import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { createObserver } from '../../src/commit/observe.ts';
import { openDatabase } from '../../src/db/database.ts';
import { deleteAgedEvents } from '../../src/db/logs/audit-retention.ts';
import { recordEvents } from '../../src/db/logs/events.ts';
import { readEvents } from '../../src/features/logs/events.ts';
import { pruneAuditLogs } from '../../src/features/logs/maintenance.ts';
import { createObject } from '../../src/objects/objects.ts';
import { changedSinceBackup, keys, restore } from '../api/archive-setup.ts';
import { asOperator, testApi } from '../api/setup.ts';
import { actor, newOffice, type Office, rowsOf } from '../commit/office.ts';
import { eachEngine } from '../setup/database.ts';
import { present } from '../setup/present.ts';

const channel = { type: 'webhook', target: null, event_types: ['group.add'], enabled: true };
const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
const all = Number.MAX_SAFE_INTEGER;

/** Writes events that are `days` old. */
async function write({ database, account }: Pick<Office, 'database' | 'account'>, days: number, count: number) {
  const event = { code: 'dashboard.login', target: 'u', meta: {} } as const;
  const events = Array.from({ length: count }, () => event);
  await recordEvents(database, account, { actor, at: daysAgo(days), events });
}

async function numbers({ database, account }: Pick<Office, 'database' | 'account'>): Promise<readonly number[]> {
  const rows = await rowsOf(database, `select id from audit_events where account_id = '${account}' order by id`);
  return rows.map(({ id }) => Number(id));
}

/** Runs one retention round as a server does. */
const round = ({ database }: Pick<Office, 'database'>, days: number) =>
  pruneAuditLogs({ database, observer: createObserver() }, days);

/** Returns the numbers from `first` to `last`. */
const span = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, at) => first + at);

eachEngine('the audit log on %s', (engine) => {
  it('deletes only events older than the retention period, at most 1,000 in a step', async () => {
    await using office = await newOffice(engine);
    const { database, account } = office;
    const before = await numbers(office);
    const first = (before.at(-1) ?? 0) + 1;
    await database.asOwner([`update audit_events set created_at = now() - interval '400 days'`]);
    await write(office, 400, 2200);
    await write(office, 10, 3);
    expect(await deleteAgedEvents(database, account, 365)).toBe(1000);
    expect((await numbers(office)).at(0)).toBe((before[0] ?? 1) + 1000);
    expect(await round(office, 365)).toBe(before.length + 1200);
    expect(await numbers(office)).toEqual(span(first + 2200, first + 2202));
    expect(await round(office, 365)).toBe(0);
    await write(office, 0, 1);
    expect((await numbers(office)).at(-1)).toBe(first + 2203);
  });

  it('keeps old events that a delivery has not passed or has set aside', async () => {
    await using office = await newOffice(engine);
    const { database, account, call } = office;
    const kind = office.engine.registry.get('NotificationChannel');
    const { object } = await createObject(office.engine, call, kind, channel, { strict: false });
    await database.asOwner([`update audit_events set created_at = now() - interval '400 days'`]);
    const before = await numbers(office);
    await write(office, 400, 10);
    const events = await numbers(office);
    const [cursor = 0, aside = 0] = [events.at(-4), events.at(-8)];
    await database.asOwner([
      `update deliveries set cursor = ${cursor}`,
      `insert into set_aside_events (account_id, channel_id, event_id, reason, set_aside_at)
       values ('${account}', '${object.id}', ${aside}, 'refused', now())`,
    ]);
    expect(await round(office, 365)).toBe(before.length + 6);
    expect(await numbers(office)).toEqual([aside, ...span(cursor + 1, cursor + 3)]);
    await database.asOwner([`update deliveries set cursor = ${all}`, 'delete from set_aside_events']);
    expect(await round(office, 365)).toBe(4);
    expect(await numbers(office)).toEqual([]);
  });

  it('stays without gaps: keeps old events that follow an event within the retention period', async () => {
    await using office = await newOffice(engine);
    await office.database.asOwner([`update audit_events set created_at = now() - interval '400 days'`]);
    await write(office, 400, 2);
    await write(office, 1, 1);
    await write(office, 400, 2);
    const events = await numbers(office);
    await round(office, 365);
    expect(await numbers(office)).toEqual(events.slice(-3));
  });

  it('is unchanged for other accounts', async () => {
    await using office = await newOffice(engine);
    await write(office, 400, 5);
    expect(await deleteAgedEvents(office.database, 'other', 365)).toBe(0);
    expect((await numbers(office)).length).toBeGreaterThan(5);
  });
});

describe('servers that share a database', () => {
  it('delete together exactly what one server would delete', async () => {
    await using office = await newOffice('postgres');
    const other = await openDatabase({ url: present(office.made.url) });
    try {
      await office.database.asOwner([`update audit_events set created_at = now() - interval '400 days'`]);
      await write(office, 400, 2500);
      await write(office, 1, 2);
      const events = await numbers(office);
      const deleted = await Promise.all([round(office, 365), round({ database: other }, 365), round(office, 365)]);
      // A round that met another server deleting from the same account continues in its next round.
      const rest = await round(office, 365);
      expect(deleted.reduce((sum, count) => sum + count, rest)).toBe(events.length - 2);
      expect(await numbers(office)).toEqual(events.slice(-2));
    } finally {
      await other.close();
    }
  });

  it('leave an account to the server deleting from it; when that is killed, nothing is lost and another continues', async () => {
    await using office = await newOffice('postgres');
    const { account } = office;
    await office.database.asOwner([`update audit_events set created_at = now() - interval '400 days'`]);
    await write(office, 400, 1500);
    const events = await numbers(office);
    const killed = new pg.Client({ connectionString: present(office.made.url) });
    // The test ends this connection on purpose.
    killed.on('error', () => {});
    await killed.connect();
    const pid = Number((await killed.query('select pg_backend_pid() as pid')).rows[0].pid);
    await killed.query('begin');
    await killed.query('insert into audit_base (account_id) values ($1) on conflict do nothing', [account]);
    await killed.query('select 1 from audit_base where account_id = $1 for update', [account]);
    await killed.query('delete from audit_events where account_id = $1', [account]);
    const blocked = deleteAgedEvents(office.database, account, 365);
    await rowsOf(office.database, `select pg_terminate_backend(${pid})`);
    await blocked;
    await killed.end().catch(() => {});
    await round(office, 365);
    expect(await numbers(office)).toEqual([]);
    const [base] = await rowsOf(office.database, `select event_id from audit_base where account_id = '${account}'`);
    expect(Number(base?.['event_id'])).toBe(events.at(-1));
  });

  it('do not wait for a server that has locked the account', async () => {
    await using office = await newOffice('postgres');
    const { account } = office;
    await office.database.asOwner([`update audit_events set created_at = now() - interval '400 days'`]);
    await write(office, 400, 10);
    expect(await deleteAgedEvents(office.database, account, 3650)).toBe(0);
    const holder = new pg.Client({ connectionString: present(office.made.url) });
    await holder.connect();
    await holder.query('begin');
    await holder.query('select 1 from audit_base where account_id = $1 for update', [account]);
    expect(await round(office, 365)).toBe(0);
    await holder.query('rollback');
    await holder.end();
    expect(await round(office, 365)).toBeGreaterThanOrEqual(10);
  });
});

describe('the deletion of audit events', () => {
  it('is reported by the list of audit events when the list reaches the deleted events', async () => {
    await using api = await testApi();
    await api.group('old');
    const list = () => api.call('GET', '/api/events/audit');
    expect((await list()).headers['heddle-notice']).toBeUndefined();
    await api.engine.database.asOwner([`update audit_events set created_at = now() - interval '400 days'`]);
    const last = (await list()).body[0].id;
    await api.group('new');
    await pruneAuditLogs(api.engine, 365);
    const { body, headers } = await list();
    expect(body.map(({ id }: { readonly id: number }) => id)).toEqual([last + 1]);
    expect(headers['heddle-notice']).toContain(`events up to ${last} were deleted`);
  });

  it('is reported to readers of events with 410 and the oldest position from which they can continue', async () => {
    await using api = await testApi();
    const { engine, account } = api;
    const event = { code: 'config.override.created', target: 'g', meta: {} } as const;
    const revision = await api.revision();
    await recordEvents(engine.database, account, { actor, at: daysAgo(400), events: [event] });
    await engine.database.asOwner([`update audit_events set created_at = now() - interval '400 days'`]);
    await pruneAuditLogs(engine, 365);
    const follow = (after: string) => api.call('GET', `/api/config/events?after=${after}`);
    const gone = await follow(`${revision}:999999`);
    expect(gone.status).toBe(410);
    const oldest = /followed from (\d+:\d+) on;/.exec(gone.body.message)?.[1] ?? '';
    const [row] = await rowsOf(engine.database, 'select notice_revision, notice_id from audit_base');
    expect(oldest).toBe(`${row?.['notice_revision']}:${1_000_000 + Number(row?.['notice_id'])}`);
    expect((await follow(`${revision - 1}:0`)).status).toBe(410);
    const reader = await readEvents(engine, { account, actor, revision: 0 }, oldest);
    expect(await reader.next(async () => ({ account, actor, revision: 0 }))).toBeUndefined();
  });

  it('is still reported after the account was restored', async () => {
    await using api = await testApi('postgres', keys);
    await api.group('old');
    await api.engine.database.asOwner([`update audit_events set created_at = now() - interval '400 days'`]);
    const deleted = await pruneAuditLogs(api.engine, 365);
    const { archive } = await changedSinceBackup(api);
    expect(await restore(api, archive, { replace: api.account })).toMatchObject({ status: 200 });
    expect((await api.call('GET', '/api/events/audit')).headers['heddle-notice']).toContain(`up to ${deleted} were`);
  });

  it('is counted in heddle_audit_events_deleted_total', async () => {
    await using api = await testApi();
    await api.group('old');
    await api.engine.database.asOwner([`update audit_events set created_at = now() - interval '400 days'`]);
    const deleted = await pruneAuditLogs(api.engine, 365);
    const { body } = await api.call('GET', '/metrics', undefined, asOperator);
    expect(deleted).toBeGreaterThan(0);
    expect(String(body).split('\n')).toContain(`heddle_audit_events_deleted_total ${deleted}`);
  });
});
