import { type Database, openDatabase } from '../../src/db/database.ts';
import { createOn, planOn } from '../plan/steps.ts';
import { type Engine, testDatabase } from '../setup/database.ts';
import { manyDocuments, newOffice, write } from './accounts.ts';

/** Number of small commits before the measurement, and of objects in the measured commit. */
export interface Size {
  readonly commits: number;
  readonly objects: number;
}

/**
 * Returns the time, in milliseconds, of a commit of many objects with four references each: `seasoned` on a connection
 * that checked foreign keys in `commits` small commits before, `fresh` on a new connection.
 */
export async function seasonedAndFresh(
  engine: Engine,
  { commits, objects }: Size,
): Promise<{ readonly seasoned: number; readonly fresh: number }> {
  return { fresh: await timeOf(engine, 0, objects), seasoned: await timeOf(engine, commits, objects) };
}

async function timeOf(engine: Engine, commits: number, objects: number): Promise<number> {
  await using made = await testDatabase(engine);
  const single = made.url === undefined ? undefined : await openDatabase({ url: made.url, poolSize: 1 });
  try {
    return await timed(single ?? made.database, commits, objects);
  } finally {
    await single?.close();
  }
}

async function timed(database: Database, commits: number, objects: number): Promise<number> {
  let state = await newOffice(database);
  for (let at = 0; at < commits; at++) {
    state = await write(database, state, createOn(state, 'Group', { name: `by hand ${at}`, peers: ['p1', 'p2'] }));
  }
  const outcome = planOn(state, 'a', manyDocuments(objects));
  const from = performance.now();
  await write(database, state, outcome);
  return performance.now() - from;
}
