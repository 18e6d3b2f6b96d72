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
import type { Database, Run, TransactionOptions } from './database.ts';
import type { Schema } from './schema.ts';

/** Builds statements and compiles them; it has no connection, `Database` runs what it compiled. */
export const build = new Kysely<Schema>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
});

/** A statement written as text, with the type of its rows. */
export function statement<Row>(text: string, parameters: readonly unknown[]): CompiledQuery<Row> {
  // The text is ours, and so is the knowledge of what it returns.
  return CompiledQuery.raw(text, [...parameters]);
}

/**
 * Begins the text of a statement that must not be kept as a named one: the plan that suits its lists depends on their
 * lengths and on the size of the account.
 */
export const plannedEachTime = '/* planned each time */ ';

const RESTRICT = "set_config('role', 'heddle_app', true), set_config('heddle.account', $1, true)";

/**
 * Ends a transaction whose server says nothing more, because it was stopped, or the network between fails: what it has
 * locked blocks all other servers. As settings of the transaction they also work behind a PgBouncer.
 */
const endWhenSilent = [
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

/** How long a write waits for a lock. */
const lockTimeout = "set_config('lock_timeout', '5s', true)";

// Sequential scans are off while a commit runs: a foreign-key check planned on a small account would keep scanning a large one.
const RESTRICT_WRITE =
  `${RESTRICT}, set_config('enable_seqscan', 'off', true), set_config('application_name', $2, true), ` +
  `set_config('statement_timeout', '30s', true), ${lockTimeout}, ${endWhenSilent}`;

/** The limits of a transaction of the owner, without which its locks could hold up servers for long. */
export function limitOwner(write: 'short' | 'long' | undefined): string {
  if (write === undefined) return oneColumn(endWhenSilent);
  const seconds = 30 * (write === 'long' ? longFactor : 1);
  return oneColumn(`set_config('statement_timeout', '${seconds}s', true), ${lockTimeout}, ${endWhenSilent}`);
}

/** How many times as long a statement of the owner may take that is known to be long. */
export const longFactor = 20;

/** The statement every transaction of an account begins with: role, account and limits, all local to it. */
export function restrictTo(account: string, options: TransactionOptions): CompiledQuery {
  if (options.write !== true) return CompiledQuery.raw(oneColumn(RESTRICT), [account]);
  return CompiledQuery.raw(oneColumn(RESTRICT_WRITE), [account, writerName(account, options.by ?? 'another writer')]);
}

/** Settings as one value that is not read: separate columns would cost more than making them. */
function oneColumn(settings: string): string {
  return `select concat(${settings})`;
}

/** The text that opens such a transaction. */
export function beginText(options: TransactionOptions): string {
  return options.snapshot ? 'begin isolation level repeatable read read only' : 'begin isolation level read committed';
}

/** Locks the head row of an account against other writers only. */
export function lockHead(account: string): CompiledQuery {
  return CompiledQuery.raw('select revision from accounts where account_id = $1 for no key update', [account]);
}

/** Refuses parameters the two drivers would send differently, before anything is sent. */
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

/** Does the owner's work, a list of statements or a function, with `run`. */
export async function perform(work: Parameters<Database['asOwner']>[0], run: Run): Promise<void> {
  if (typeof work === 'function') return work(run);
  for (const statement of work) await run(statement);
}

/** How many bytes Postgres keeps of the name of a session. */
const longest = 63;

/** The beginning of the names of all sessions that write to an account. */
export function writerPrefix(account: string): string {
  return `heddle ${account} `;
}

/** The name of a session that writes, which shows others on whose behalf; only ASCII gets through. */
function writerName(account: string, by: string): string {
  return `${writerPrefix(account)}${by}`.replace(/[^\x20-\x7e]/g, '?').slice(0, longest);
}

/** Names a writer to those who wait for it. */
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
