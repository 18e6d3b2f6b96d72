import { createEngine } from '../../../src/app.ts';
import { openDatabase } from '../../../src/db/database.ts';
import { compactHistory } from '../../../src/features/config/history/retention.ts';
import { onServer } from '../../setup/sql.ts';
import { startLoadGenerator } from '../load.ts';
import { fillLog } from '../log-rows.ts';
import { serve } from '../served.ts';
import { openWorkplace, type Stand } from '../stand.ts';
import type { GrowthFigures, Scale } from './figures.ts';
import { addGroup, renaming, revisionOf } from './servers.ts';

/** Tables in which a single change leaves rows that are kept. */
const tables = ['changes', 'revisions', 'audit_events', 'base_objects'] as const;

/** Measures the disk space of single changes on Postgres, with the full history and after the history was compacted. */
export async function measureGrowth(stand: Stand, scale: Scale): Promise<GrowthFigures> {
  const url = await stand.postgres();
  const changes = await changeOften(stand, url, scale);
  const kept = await sizes(url, changes);
  const database = await openDatabase({ url, poolSize: 1 });
  // Every server does this hourly; here with HEDDLE_HISTORY_REVISIONS=200 and HEDDLE_HISTORY_DAYS=0.
  await compactHistory(createEngine({ database }), { revisions: 200, days: 0 });
  await database.close();
  return { kept, folded: await sizes(url, changes), million: await millionOf(stand, scale.records) };
}

/** Makes single changes in an account that is otherwise nearly empty. Returns their number, in thousands. */
async function changeOften(stand: Stand, url: string, { rounds, milliseconds }: Scale): Promise<number> {
  await using server = await serve({ url, dataDir: await stand.directory() });
  using load = startLoadGenerator();
  const targets = [renaming(server, await addGroup(server, 'To be renamed'))];
  const [before, length] = [await revisionOf(server), 3 * rounds * milliseconds];
  await load.run({ type: 'http', targets, clients: 16, milliseconds: length });
  const thousands = ((await revisionOf(server)) - before) / 1000;
  await server.stop();
  return thousands;
}

/** Returns the size of each table with its indexes for a thousand changes, in MB, without free space. */
async function sizes(url: string, thousands: number): Promise<Readonly<Record<string, number>>> {
  const found: Record<string, number> = {};
  for (const table of tables) {
    await onServer(url, `vacuum full ${table}`);
    const [row] = await onServer(url, `select pg_total_relation_size('${table}') as bytes`);
    found[table] = Number(row?.['bytes']) / 1e6 / thousands;
  }
  return found;
}

/** Returns the disk space of a million records of the reverse proxies' log, in MB. */
async function millionOf(stand: Stand, records: number): Promise<number> {
  const url = await stand.postgres();
  await using workplace = await openWorkplace({ url });
  const size = async () => {
    const [row] = await onServer(url, 'select pg_database_size(current_database()) as bytes');
    return Number(row?.['bytes']);
  };
  const before = await size();
  await fillLog(workplace.engine.database, workplace.account, Date.now(), records);
  // Bytes for one record equal megabytes for a million records.
  return ((await size()) - before) / records;
}
