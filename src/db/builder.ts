import {
  CompiledQuery,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely';
import type { Actor } from '../model/declare/actor.ts';
import { Internal } from '../model/errors.ts';
import type { Database, RunSql, TransactionOptions } from './database.ts';
import type { Schema } from './schema.ts';

/** Builds and compiles statements. It has no connection: `Database` runs the compiled statements. */
export const queryBuilder = new Kysely<Schema>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
});

/** Returns a statement from SQL text. `Row` is the type of its rows. */
export function statement<Row>(text: string, parameters: readonly unknown[]): CompiledQuery<Row> {
  // Only this code writes the text, so it knows the type of the rows.
  return CompiledQuery.raw(text, [...parameters]);
}

/**
 * Prefix of a statement that must not be prepared as a named statement, because the plan that suits its lists depends
 * on their lengths and on the size of the account.
 */
export const unpreparedStatementPrefix = '/* planned each time */ ';

const RESTRICT = "set_config('role', 'heddle_app', true), set_config('heddle.account', $1, true)";

/**
 * Settings that end a transaction whose server stays silent because it was stopped or because the network failed. Its
 * locks would otherwise block all other servers. They are set for the transaction only, so they also work behind a
 * PgBouncer.
 */
const silenceTimeoutSettings = [
  ...[
    ['idle_in_transaction_session_timeout', '8s'],
    ['tcp_user_timeout', '8s'],
  ],
  ...[
    ['tcp_keepalives_idle', '4'],
    ['tcp_keepalives_interval', '2'],
    ['tcp_keepalives_count', '2'],
  ],
]
  .map(([name, value]) => `set_config('${name}', '${value}', true)`)
  .join(', ');

/** Maximum time that a write waits for a lock. */
const lockTimeout = "set_config('lock_timeout', '5s', true)";

// Sequential scans are off while a commit runs: a foreign-key check planned on a small account would keep scanning a
// large one.
const RESTRICT_WRITE =
  `${RESTRICT}, set_config('enable_seqscan', 'off', true), set_config('application_name', $2, true), ` +
  `set_config('statement_timeout', '30s', true), ${lockTimeout}, ${silenceTimeoutSettings}`;

// Built once: names of prepared statements are looked up by the text, and the hash of a text is kept with the text.
const [restrictText, restrictWriteText] = [oneColumn(RESTRICT), oneColumn(RESTRICT_WRITE)];

/**
 * Returns the statement that limits a transaction of the database owner. Without these limits, its locks could block
 * servers for long.
 */
export function limitOwner(write: 'short' | 'long' | undefined): string {
  if (write === undefined) return oneColumn(silenceTimeoutSettings);
  const seconds = 30 * (write === 'long' ? longFactor : 1);
  return oneColumn(`set_config('statement_timeout', '${seconds}s', true), ${lockTimeout}, ${silenceTimeoutSettings}`);
}

/** Factor by which the statement timeout of a `long` transaction of the database owner is longer. */
export const longFactor = 20;

/**
 * Returns the first statement of every transaction of an account. It sets the role, the account and the limits, all for
 * this transaction only.
 */
export function restrictTo(account: string, options: TransactionOptions): CompiledQuery {
  if (options.write !== true) return CompiledQuery.raw(restrictText, [account]);
  return CompiledQuery.raw(restrictWriteText, [account, writerName(account, options.by ?? 'another writer')]);
}

/**
 * Returns the settings as one column, which is not read. Separate columns would cost more than the settings themselves.
 */
function oneColumn(settings: string): string {
  return `select concat(${settings})`;
}

/** Returns the text that begins a transaction with these options. */
export function beginText(options: TransactionOptions): string {
  return options.snapshot ? 'begin isolation level repeatable read read only' : 'begin isolation level read committed';
}

/** Returns the statement that locks the head row of an account against other writers only. */
export function lockHead(account: string): CompiledQuery {
  return CompiledQuery.raw('select revision from accounts where account_id = $1 for no key update', [account]);
}

/** Throws `Internal` for parameters that the two drivers would send differently, before anything is sent. */
export function checkParameters(statement: CompiledQuery): void {
  for (const value of statement.parameters) {
    const scalars = Array.isArray(value) ? value : [value];
    if (!scalars.every(isScalar)) {
      throw new Internal(`A parameter is not a scalar or a list of scalars (pass JSON as text): ${statement.sql}`);
    }
  }
}

function isScalar(value: unknown): boolean {
  if (value === null || value instanceof Date || value instanceof Uint8Array) return true;
  return (
    typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint'
  );
}

/** Runs the owner's work, which is a list of statements or a function, with `run`. */
export async function runOwnerWork(work: Parameters<Database['asOwner']>[0], run: RunSql): Promise<void> {
  if (typeof work === 'function') return work(run);
  for (const statement of work) await run(statement);
}

/** Maximum length of `application_name` in Postgres, in bytes. */
const maxNameBytes = 63;

/** Returns the prefix of the `application_name` of every session that writes to an account. */
export function writerPrefix(account: string): string {
  return `heddle ${account} `;
}

/**
 * Returns the `application_name` of a session that writes. It shows other sessions for whom the session writes.
 * Postgres accepts only ASCII.
 */
function writerName(account: string, by: string): string {
  return `${writerPrefix(account)}${by}`.replace(/[^\x20-\x7e]/g, '?').slice(0, maxNameBytes);
}

/** Returns the name of a writer, which is shown to those who wait for it. */
export function describeWriter({
  actor,
  planId,
}: {
  readonly actor: Actor;
  readonly planId?: string | undefined;
}): string {
  const who = actor.type === 'source' ? `source ${actor.name}` : actor.name;
  return planId === undefined ? who : `plan ${planId} of ${who}`;
}
