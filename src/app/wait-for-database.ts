import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../db/database.ts';
import { ReadOnlyDatabase, UnusableDatabase } from '../db/unusable-database.ts';
import { codeOf } from '../lib/error-code.ts';
import type { Log } from '../log.ts';
import { Unavailable } from '../model/errors.ts';

/**
 * Time between two attempts to reach the database; below it, the time between two log lines about that. In
 * milliseconds.
 */
const retryIntervalMs = 500;
const warnEveryMs = 10_000;

// SQLSTATE classes of refused credentials and of a database that does not exist. Waiting does not help against these.
const permanentErrors = /^(28|3D)/;

/**
 * Waits until the database answers. When that takes longer than `waitMs`, throws the last error, with advice on how to
 * fix it. Throws at once when waiting cannot help.
 */
export async function waitForDatabase(database: Pick<Database, 'ping'>, waitMs: number, log: Log): Promise<void> {
  const begun = performance.now();
  let warnedAt = Number.NEGATIVE_INFINITY;
  for (;;) {
    try {
      return await database.ping();
    } catch (error) {
      const waited = performance.now() - begun;
      if (!isTransient(error)) throw withAdvice(error);
      if (waited >= waitMs) throw timeoutError(error, waited);
      if (waited - warnedAt >= warnEveryMs) {
        const left = Math.ceil((waitMs - waited) / 1000);
        log({ level: 'warn', message: `waiting for the database, for at most ${left} s more: ${error.message}` });
        warnedAt = waited;
      }
    }
    await delay(retryIntervalMs);
  }
}

/** Adds to the error of a refused connection how to correct it. Returns other errors unchanged. */
function withAdvice(error: unknown): unknown {
  if (!(error instanceof Unavailable) || !permanentErrors.test(codeOf(error.cause) ?? '')) return error;
  const { cause } = error;
  return new Unavailable(
    `${error.message} Correct the user, the password or the database in HEDDLE_DATABASE_URL, or create them in Postgres.`,
    { cause },
  );
}

function timeoutError(cause: Unavailable, waited: number): Unavailable {
  const seconds = Math.round(waited / 1000);
  return new Unavailable(
    `${cause.message} Heddle tried for ${seconds} s; start Postgres, correct HEDDLE_DATABASE_URL, or allow more time with --wait-for-database (HEDDLE_WAIT_FOR_DATABASE).`,
    { cause },
  );
}

/** Checks whether an error means that the database is only temporarily unreachable. */
export function isTransient(error: unknown): error is Unavailable {
  if (!(error instanceof Unavailable) || error instanceof UnusableDatabase || error instanceof ReadOnlyDatabase)
    return false;
  return !permanentErrors.test(codeOf(error.cause) ?? '');
}
