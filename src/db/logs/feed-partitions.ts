import type { Database, RunSql } from '../database.ts';
import { type Feed, feeds } from './feeds.ts';

const day = 86_400_000;
const week = 7 * day;
// 1970 began on a Thursday; weeks begin on Monday.
const firstMonday = 4 * day;

/** Returns the start of the week of a time, both in milliseconds since 1970. */
export function weekOf(time: number): number {
  return Math.floor((time - firstMonday) / week) * week + firstMonday;
}

/** Returns the tables of a feed that are partitioned by week. */
function tablesOf({ table, numbersTable }: Feed): readonly string[] {
  return [table, numbersTable];
}

function partitionName(table: string, start: number): string {
  return `${table}_${new Date(start).toISOString().slice(0, 10).replaceAll('-', '')}`;
}

// Servers may create the same partition at the same time. The second one waits here, and then finds the partition.
const lockText = 'select pg_advisory_xact_lock(1212498020, 3)';

/** Creates the missing partitions of a feed for the weeks that begin at these times. */
export async function makePartitions(database: Database, feed: Feed, weeks: Iterable<number>): Promise<void> {
  const chosen = [...weeks];
  const work = async (run: RunSql) => {
    await run(lockText);
    for (const table of tablesOf(feed)) {
      const present = await partitionsOf(run, table);
      for (const start of chosen) {
        const name = partitionName(table, start);
        if (present.includes(name)) continue;
        const [from, to] = [start, start + week].map((time) => `'${new Date(time).toISOString()}'`);
        await run(`create table ${name} partition of ${table} for values from (${from}) to (${to})`);
      }
    }
  };
  await database.asOwner(work, { write: 'short' });
}

/** Creates the missing partitions of all feeds for the previous, the current and the next two weeks. */
export async function makePartitionsAhead(database: Database, now: number): Promise<void> {
  const weeks = [-1, 0, 1, 2].map((ahead) => weekOf(now) + ahead * week);
  for (const feed of feeds) await makePartitions(database, feed, weeks);
}

/** Drops the partitions of a feed for all weeks before the week of `moment`. Returns the dropped partitions. */
export async function dropPartitionsBefore(database: Database, feed: Feed, moment: number): Promise<readonly string[]> {
  const dropped: string[] = [];
  const work = async (run: RunSql) => {
    dropped.length = 0;
    await run(lockText);
    for (const table of tablesOf(feed)) {
      const oldest = partitionName(table, weekOf(moment));
      for (const name of await partitionsOf(run, table)) {
        if (name >= oldest) continue;
        await run(`drop table ${name}`);
        dropped.push(name);
      }
    }
    // Roll-ups and listed values belong to the dropped weeks or to later ones. If no partition was dropped, there is
    // nothing to delete.
    if (dropped.length === 0) return;
    const kept = new Date(weekOf(moment)).toISOString();
    await run('delete from feed_hours where feed = $1 and hour < $2::timestamptz', [feed.name, kept]);
    // Listed values, the last statement here, are kept a day longer, because the clock of a reporter may be a little
    // ahead of the day on which its values were listed.
    await run(
      `delete from set_aside_records s where s.feed = $1
       and not exists (select from ${feed.numbersTable} n where n.account_id = s.account_id and n.number = s.record_number)`,
      [feed.name],
    );
    await run('delete from feed_values where feed = $1 and day < $2::date - 1', [feed.name, kept.slice(0, 10)]);
  };
  await database.asOwner(work, { write: 'long' });
  return dropped;
}

/** Deletes the ids of reports that were stored before a moment. Reports that old are not sent again. */
export async function deleteBatchesBefore(database: Database, moment: number): Promise<void> {
  const work = async (run: RunSql) => {
    await run('delete from feed_batches where stored_at < $1::timestamptz', [new Date(moment).toISOString()]);
  };
  await database.asOwner(work, { write: 'long' });
}

/** Returns the names of a table's partitions, oldest first. */
async function partitionsOf(run: RunSql, table: string): Promise<readonly string[]> {
  const rows = await run(
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = $1::regclass order by 1`,
    [table],
  );
  return rows.map(({ name }) => String(name));
}
