import { describe, expect, it } from 'vitest';
import { statement } from '../../src/db/builder.ts';
import { openDatabase } from '../../src/db/database.ts';
import { copyEmbedded, temporaryDirectory, testDatabase } from '../setup/database.ts';

const raw = <Row>(text: string) => statement<Row>(text, []);

it('an embedded database that stopped before its vacuum is vacuumed at its next start', async () => {
  const dataDir = await temporaryDirectory();
  await copyEmbedded(dataDir);
  const first = await openDatabase({ dataDir });
  await first.inAccount('a', [
    raw("insert into object_keys select 'a', 'Group', 'key', n::text, 'o' from generate_series(1, 10000) n"),
  ]);
  await first.close();
  const second = await openDatabase({ dataDir });
  await second.ping();
  const estimate = raw("select reltuples::int as rows from pg_class where relname = 'object_keys'");
  expect(await second.lookUp(estimate)).toEqual([{ rows: 10_000 }]);
  await second.close();
});

it('an embedded database makes checkpoints while running, so that its WAL stays below 32 MiB', async () => {
  const dataDir = await temporaryDirectory();
  await copyEmbedded(dataDir);
  const database = await openDatabase({ dataDir });
  const ahead = raw<{ readonly bytes: number }>(
    'select pg_wal_lsn_diff(pg_current_wal_lsn(), redo_lsn)::float8 as bytes from pg_control_checkpoint()',
  );
  // 0.7 MB each: 90 MB in total.
  const write = raw(
    "insert into object_keys select 'a', 'Group', md5(random()::text), md5(random()::text), 'o' from generate_series(1, 2000)",
  );
  for (let n = 0; n < 130; n += 1) await database.inAccount('a', [write]);
  await database.ping();
  const [{ bytes } = { bytes: 0 }] = await database.lookUp(ahead);
  expect(bytes).toBeLessThan(32 * 2 ** 20);
  await database.close();
});

describe('a Postgres connection', () => {
  it('does not time out a slow statement once the server has answered that the transaction began', async () => {
    await using test = await testDatabase('postgres');
    const database = await openDatabase({ url: String(test.url), poolSize: 1, silenceMs: 2000 });
    const [[row]] = await database.inAccount('a', [raw("select 'done' as end from pg_sleep(3)")], { write: true });
    expect(row).toEqual({ end: 'done' });
    await database.close();
  });
});
