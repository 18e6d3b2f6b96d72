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

/** The tables in which a single change leaves something that stays. */
const tables = ['changes', 'revisions', 'audit_events', 'base_objects'] as const;

/** What single changes leave on a Postgres, and what of it stays when the history is folded. */
export async function measureGrowth(stand: Stand, scale: Scale): Promise<GrowthFigures> {
  const url = await stand.postgres();
  const changes = await changeOften(stand, url, scale);
  const kept = await sizes(url, changes);
  const database = await openDatabase({ url, poolSize: 1 });
  // As hourly in every server, with HEDDLE_HISTORY_REVISIONS=200 and HEDDLE_HISTORY_DAYS=0.
  await compactHistory(createEngine({ database }), { revisions: 200, days: 0 });
  await database.close();
  return { kept, folded: await sizes(url, changes), million: await millionOf(stand, scale.records) };
}

/** Makes single changes in an account that has little else; answers how many, in thousands. */
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

/** How much the tables take with their indexes, for each thousand changes, in MB, without what is free in them. */
async function sizes(url: string, thousands: number): Promise<Readonly<Record<string, number>>> {
  const found: Record<string, number> = {};
  for (const table of tables) {
    await onServer(url, `vacuum full ${table}`);
    const [row] = await onServer(url, `select pg_total_relation_size('${table}') as bytes`);
    found[table] = Number(row?.['bytes']) / 1e6 / thousands;
  }
  return found;
}

/** What a million records of the log of reverse proxies take, in MB. */
async function millionOf(stand: Stand, records: number): Promise<number> {
  const url = await stand.postgres();
  await using place = await openWorkplace({ url });
  const size = async () => {
    const [row] = await onServer(url, 'select pg_database_size(current_database()) as bytes');
    return Number(row?.['bytes']);
  };
  const before = await size();
  await fillLog(place.engine.database, place.account, Date.now(), records);
  // Bytes of one are megabytes of a million.
  return ((await size()) - before) / records;
}
