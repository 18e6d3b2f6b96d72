import type { CompiledQuery } from 'kysely';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { createEngine } from '../../src/app.ts';
import { LeaseLost } from '../../src/commit/batch.ts';
import { statement } from '../../src/db/builder.ts';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { revokeLease, takeLease } from '../../src/db/leases/leases.ts';
import { ReadOnlyDatabase } from '../../src/db/unusable-database.ts';
import { sha256Base64 } from '../../src/lib/node-pure.ts';
import { Unavailable } from '../../src/model/errors.ts';
import type { Snapshot } from '../../src/model/state/snapshot.ts';
import { createObject } from '../../src/objects/objects.ts';
import { testDatabase } from '../setup/database.ts';
import { present } from '../setup/present.ts';
import { withInAccount } from '../setup/without-account-filter.ts';
import { checkKilledConnections } from './killed-connections.ts';
import { newOffice, policyBody, revisionsOf, rowsOf, upTo, withGroup } from './office.ts';

/** Time at which Postgres executes a statement whose connection was lost while the statement was in flight. */
type Arrival = 'never' | 'before anybody asks' | 'after it was asked for' | 'after it was sent again';

/** Returns a database that loses the response of one commit. `arrival` states when Postgres executes the statement. */
function losing(inner: Database, arrival: Arrival): Database {
  let lost: (() => Promise<unknown>) | undefined;
  let isDone = false;
  const arrive = async () => {
    await lost?.();
    lost = undefined;
  };
  const inAccount = async (account: string, statements: readonly CompiledQuery<unknown>[], options?: object) => {
    const run = () => inner.inAccount(account, statements, options);
    const isCommit = statements.some(({ sql }) => sql.includes('update accounts set revision'));
    if (isCommit && !isDone) {
      isDone = true;
      lost = arrival === 'never' ? undefined : run;
      if (arrival === 'before anybody asks') await arrive();
      throw new Unavailable('the connection was reset', { inDoubt: true });
    }
    if (isCommit && arrival === 'after it was asked for') await arrive();
    const rows = await run();
    if (isCommit) await arrive();
    return rows;
  };
  return {
    engine: inner.engine,
    // The rows are those of the inner database.
    inAccount: inAccount as unknown as Database['inAccount'],
    withAccountLock: (account, work, by) => inner.withAccountLock(account, work, by),
    lookUp: (query) => inner.lookUp(query),
    asOwner: (work, options) => inner.asOwner(work, options),
    countWrittenRows: (rows) => inner.countWrittenRows(rows),
    ping: () => inner.ping(),
    close: () => inner.close(),
  };
}

describe('a commit with a lost response', () => {
  it.each<Arrival>(['never', 'before anybody asks', 'after it was asked for', 'after it was sent again'])(
    'returns the generated values that are stored when the statement arrives: %s',
    async (arrival) => {
      await using office = await newOffice('postgres');
      const engine = createEngine({ database: losing(office.database, arrival) });
      const body = { name: 'k', type: 'reusable', expires_in: 86_400, auto_groups: [], usage_limit: 0 };
      const kind = engine.registry.get('SetupKey');
      const { object, outputs } = await createObject(engine, office.call, kind, body, { strict: false });
      const text = "select id, derived ->> 'key_hash' as hash from objects where kind = 'SetupKey'";
      expect(await rowsOf(office.database, text)).toEqual([
        { id: object.id, hash: sha256Base64(outputs['key'] ?? '') },
      ]);
      expect(await revisionsOf(office.database)).toEqual(upTo(3));
    },
  );
});

/**
 * Returns a database that executes one commit and loses its response. After that, a standby answers until it has refused
 * a write, and then the primary again.
 */
function failingOver(primary: Database, standby: Database): Database {
  let serving: 'primary' | 'standby' | 'promoted' = 'primary';
  const inAccount = async (account: string, statements: readonly CompiledQuery<unknown>[], options?: object) => {
    if (serving === 'standby')
      return standby.inAccount(account, statements, options).catch((error: unknown) => {
        if (error instanceof ReadOnlyDatabase) serving = 'promoted';
        throw error;
      });
    const rows = await primary.inAccount(account, statements, options);
    const isCommit = statements.some(({ sql }) => sql.includes('update accounts set revision'));
    if (serving === 'promoted' || !isCommit) return rows;
    serving = 'standby';
    throw new Unavailable('the connection was reset', { inDoubt: true });
  };
  // The rows are those of the databases.
  return withInAccount(primary, inAccount as unknown as Database['inAccount']);
}

describe('a commit with a lost response before a failover', () => {
  it('is written once and acknowledged, although the standby that answers next is behind', async () => {
    await using office = await newOffice('postgres');
    await using behind = await testDatabase('postgres');
    await behind.database.asOwner([
      `insert into accounts (account_id, revision, created_at) values ('${office.account}', 1, now())`,
    ]);
    const url = new URL(behind.url ?? '');
    url.searchParams.set('options', '-c default_transaction_read_only=on');
    const standby = await openDatabase({ url: url.href });
    const engine = createEngine({ database: failingOver(office.database, standby) });
    const all = (await engine.snapshots.current(office.account)).lookUp('Group', 'name', 'All')[0]?.id ?? '';
    // Names of policies need not be unique, so a second write would not be refused.
    const kind = engine.registry.get('Policy');
    const { object } = await createObject(engine, office.call, kind, policyBody('p', all), { strict: false });
    const text = "select id from objects where kind = 'Policy' and name = 'p'";
    expect(await rowsOf(office.database, text)).toEqual([{ id: object.id }]);
    expect(await revisionsOf(office.database)).toEqual(upTo(3));
    await standby.close();
  });
});

const waitingText =
  "select count(*)::int as waiting from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";

describe('a commit under a lease', () => {
  it('is not refused for the lost lease while its first attempt may still be written', async () => {
    await using office = await newOffice('postgres');
    const { database: inner, account, call, made } = office;
    const request = { account, name: 'source/a', owner: 'me', seconds: 60 };
    const lease = present(await takeLease(inner, request));
    const holder = new pg.Client({ connectionString: made.url });
    await holder.connect();
    await holder.query('begin');
    await holder.query('select from accounts for no key update');
    const sendings: Promise<unknown>[] = [];
    const waiting = (count: number) =>
      expect.poll(() => inner.lookUp(statement(waitingText, []))).toEqual([{ waiting: count }]);
    const send = async <Rows>(run: () => Promise<Rows>): Promise<Rows> => {
      const running = run();
      sendings.push(running.catch(() => {}));
      if (sendings.length > 1) {
        // When `running` resolves first, the second statement was answered while the first still waits.
        await Promise.race([waiting(2), running]);
        await holder.query('rollback');
        return running;
      }
      await waiting(1);
      await revokeLease(inner, account, lease.name);
      throw new Unavailable('the connection was reset', { inDoubt: true });
    };
    const inAccount = (id: string, statements: readonly CompiledQuery<unknown>[], options?: object) => {
      const run = () => inner.inAccount(id, statements, options);
      return statements.some(({ sql }) => sql.includes('update accounts set revision')) ? send(run) : run();
    };
    // The rows are those of the inner database.
    const engine = createEngine({ database: withInAccount(inner, inAccount as unknown as Database['inAccount']) });
    const propose = (state: Snapshot) => withGroup(engine, state, 'devs');
    const [end] = await Promise.allSettled([engine.committer.mutate({ ...call, lease, propose })]);
    await Promise.all(sendings);
    await holder.end();
    expect(end).toMatchObject({ status: 'rejected', reason: expect.any(LeaseLost) });
    expect(await rowsOf(inner, "select id from objects where name = 'devs'")).toEqual([]);
  });
});

describe('a commit on a killed connection', () => {
  it('E96 is written exactly once if acknowledged and not at all if refused, with two servers writing', () =>
    checkKilledConnections(10, 3));
});
