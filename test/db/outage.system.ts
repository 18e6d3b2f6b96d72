import { CompiledQuery } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { migrate } from '../../src/db/migrate.ts';
import { Unavailable } from '../../src/model/errors.ts';
import { type PostgresServer, startPostgres } from '../setup/server.ts';

const raw = (text: string, ...parameters: unknown[]) =>
  CompiledQuery.raw(text, parameters) as CompiledQuery<Record<string, unknown>>;
const insert = (id: string) =>
  raw('insert into accounts (account_id, created_at) values ($1, now()) returning account_id', id);
const read = raw('select account_id from accounts');

describe.each(['socket', 'tcp'])('a Postgres outage (%s)', (transport) => {
  let server: PostgresServer;
  let database: Database;

  beforeAll(async () => {
    server = await startPostgres({ tcp: transport === 'tcp' });
  });

  beforeEach(async () => {
    database = await openDatabase({ url: server.url(), poolSize: 4 });
    await migrate(database);
    return () => database.close();
  });

  afterAll(() => server[Symbol.asyncDispose]());

  const several = <Value>(work: (n: number) => Promise<Value>) =>
    Promise.allSettled(Array.from({ length: 12 }, (_, n) => work(n)));
  const reasons = (results: readonly PromiseSettledResult<unknown>[]) =>
    results.map((result) => (result.status === 'rejected' ? result.reason : result.value));

  it.each(['fast', 'kill'] as const)(
    'makes the database unavailable after a stop (%s), until Postgres is back',
    async (how) => {
      await several(() => database.inAccount('a', [read]));
      await server.stop(how);
      for (const reason of reasons(await several(() => database.inAccount('a', [read]))))
        expect(reason).toBeInstanceOf(Unavailable);
      await expect(database.ping()).rejects.toThrow('The database cannot be reached');
      await expect(database.asOwner(['select 1'])).rejects.toThrow(Unavailable);
      await server.start();
      expect(reasons(await several(() => database.inAccount('a', [read])))).toEqual(
        Array.from({ length: 12 }, () => [[]]),
      );
    },
  );

  it('between two requests fails no later request after the restart', async () => {
    await several(() => database.inAccount('a', [read]));
    await server.stop();
    await server.start();
    await expect
      .poll(() =>
        database.ping().then(
          () => 'up',
          () => 'down',
        ),
      )
      .toBe('up');
    expect(reasons(await several(() => database.inAccount('a', [read])))).toEqual(
      Array.from({ length: 12 }, () => [[]]),
    );
  });

  it.each(['fast', 'kill'] as const)(
    'leaves writes in progress in doubt, and none half done (E96, %s)',
    async (how) => {
      const part = [insert(`${how}-1`), raw('select pg_sleep(60)')];
      const writing = several((n) =>
        database.inAccount(`${how}-1`, n === 0 ? part : [raw('select pg_sleep(60)')], { write: true }),
      );
      const sleepers = raw(
        "select count(*) as sleeping from pg_stat_activity where query like 'select pg_sleep%' and state = 'active'",
      );
      const observer = await openDatabase({ url: server.url(), poolSize: 1 });
      await expect.poll(() => observer.lookUp(sleepers)).toEqual([{ sleeping: 4 }]);
      await server.stop(how);
      const faults = reasons(await writing);
      for (const fault of faults) expect(fault).toBeInstanceOf(Unavailable);
      // The four running writes are in doubt. The eight that waited for a connection never began.
      expect(faults.filter((fault) => (fault as Unavailable).inDoubt)).toHaveLength(4);
      await server.start();
      expect(await observer.lookUp(read).catch(() => observer.lookUp(read))).toEqual([]);
      await observer.close();
    },
  );

  it('of one terminated session makes its query unavailable, and the pool keeps working', async () => {
    const running = database.inAccount('a', [raw('select pg_sleep(60)')]);
    const ended = expect(running).rejects.toThrow(Unavailable);
    const end = raw(
      "select pg_terminate_backend(pid) as ended from pg_stat_activity where query like 'select pg_sleep%' and state = 'active'",
    );
    await expect.poll(() => database.lookUp(end)).toEqual([{ ended: true }]);
    await ended;
    expect(await database.inAccount('a', [read])).toEqual([[]]);
  });
});

it('a database that cannot be reached is reported as unavailable, not as a crash', async () => {
  const database = await openDatabase({ url: 'postgres://nobody@127.0.0.1:1/nothing' });
  await expect(database.ping()).rejects.toThrow(Unavailable);
  await database.close();
});
