import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { Unavailable } from '../model/errors.ts';
import { statement } from './builder.ts';
import type { Database } from './database.ts';

/** Number of checks whether a session still exists, and the pause after each check, in milliseconds. */
const maxChecks = 10;
const pauseMs = 5;

/**
 * Terminates a session that waits for its client or for a lock. A session that works, or waits for a standby, ends
 * without help. The transaction of the latter is committed: a reader that sees it before the standby has it could lose
 * it again.
 */
const endText = `select case when wait_event_type in ('Client', 'Lock') then pg_terminate_backend(pid) end as ended
from pg_stat_activity where pid = $1 and usename = current_user and datname = current_database()`;

/**
 * Ends the session of a broken connection. Postgres may still receive its statement, or may let the statement wait for
 * a lock. It would then execute the statement after the caller repeated it, or after the objects that it made were
 * deleted again. Resolves when the session has ended. Behind a pooler that hides its process, no session is found or
 * ended. Throws `Unavailable` while the session works.
 */
export async function endSession(database: Pick<Database, 'lookUp'>, process: number): Promise<void> {
  const query = statement<{ readonly ended: boolean | null }>(endText, [process]);
  for (let look = 0; look < maxChecks; look++) {
    if ((await database.lookUp(query)).length === 0) return;
    await delay(pauseMs);
  }
  throw new Unavailable('Postgres is still running a statement after its connection broke; try again');
}

// SQLSTATE of a session that was idle in a transaction for longer than `restrictTo` allows.
const idleInTransaction = '25P03';

/**
 * Checks whether Postgres ended the session because it was idle in a transaction for too long: this process stood still
 * between two statements, as on an overloaded or suspended machine.
 */
export function isEndedWhileIdle(error: unknown): boolean {
  return (
    error instanceof Unavailable && error.cause instanceof pg.DatabaseError && error.cause.code === idleInTransaction
  );
}

/** Returns the error of an unreachable database. `endAttempt` is given for a write, which is then in doubt. */
export function unavailableError(cause: unknown, endAttempt: (() => Promise<void>) | undefined): Unavailable {
  const inDoubt = endAttempt !== undefined;
  const reason = cause instanceof Error ? cause.message || cause.name : String(cause);
  const doubt = inDoubt ? ' Whether the write happened is unknown: read before trying again.' : '';
  return new Unavailable(`The database cannot be reached: ${reason}.${doubt}`, {
    cause,
    inDoubt,
    ...(inDoubt ? { endAttempt } : {}),
  });
}
