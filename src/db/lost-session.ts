import { setTimeout as delay } from 'node:timers/promises';
import { Unavailable } from '../model/errors.ts';
import { statement } from './builder.ts';
import type { Database } from './database.ts';

/** How often it is looked whether a session is still there, and how long to wait before each look, in milliseconds. */
const looks = 10;
const pauseMs = 5;

/**
 * What waits, for its client or for a lock, is ended; what works comes to its end by itself. So does what waits for a
 * standby: its transaction is committed, and what reads it before the standby has it could lose it again.
 */
const endText = `select case when wait_event_type in ('Client', 'Lock') then pg_terminate_backend(pid) end as ended
from pg_stat_activity where pid = $1 and usename = current_user and datname = current_database()`;

/**
 * Ends the session of a connection that broke: Postgres may have its statement still to come or let it wait for a lock, and
 * would carry it out after it was repeated, or after what it made was deleted again. Resolves when the session is gone; behind a
 * pooler that hides its process nothing is found, and nothing ended. Throws `Unavailable` while it works.
 */
export async function endSession(database: Pick<Database, 'lookUp'>, process: number): Promise<void> {
  const query = statement<{ readonly ended: boolean | null }>(endText, [process]);
  for (let look = 0; look < looks; look++) {
    if ((await database.lookUp(query)).length === 0) return;
    await delay(pauseMs);
  }
  throw new Unavailable('Postgres still works on a statement whose connection broke; try again');
}
