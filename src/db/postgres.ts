import { createHash } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { CompiledQuery } from 'kysely';
import pg, { type PoolClient, type QueryConfig, type QueryResult } from 'pg';
import { Conflict, Internal, Unavailable } from '../model/errors.ts';
import {
  beginText,
  checkParameters,
  limitOwner,
  lockHead,
  longFactor,
  restrictTo,
  runOwnerWork,
  unpreparedStatementPrefix,
} from './builder.ts';
import type {
  AccountAccess,
  Database,
  DatabaseOptions,
  OwnerOptions,
  PoolUse,
  RowsOf,
  RunSql,
  TransactionOptions,
} from './database.ts';
import { DiskWatch } from './embedded/disk-watch.ts';
import { heldMessage, holderQuery } from './lock-holder.ts';
import { endSession, isEndedWhileIdle, unavailableError } from './lost-session.ts';
import { columnParsers } from './schema.ts';
import { shortageOf } from './shortage.ts';
import { sendPipelined, sendQuery } from './transaction-query.ts';
import { connectionRefusalOf, ReadOnlyDatabase, readOnlyTransaction } from './unusable-database.ts';

/**
 * Maximum wait for a free connection, and for the next byte of a connection that hangs without closing, in
 * milliseconds. A write that is abandoned for this reason is in doubt, and its result is determined over another
 * connection.
 */
const CONNECT_MS = 10_000;
const READ_SILENCE_MS = 30_000;
const WRITE_SILENCE_MS = 15_000;

/** Idle time before the first TCP keep-alive probe of a connection, in milliseconds. */
const KEEPALIVE_MS = 4000;

/**
 * Number of statement texts that are prepared under a name, per process. Further texts (lists of varying length) are
 * sent unnamed.
 */
const NAMED_STATEMENTS = 500;

// SQLSTATEs: connection exceptions, shutdown, crash, start-up, database dropped, idle or too long in a transaction, too
// many connections.
const UNREACHABLE = /^(08|57P0|25P0[34]|53300)/;

// SQLSTATE of a statement that took longer than `restrictTo` allows.
const TOO_SLOW: Readonly<Record<string, string>> = {
  '57014': 'the statement took too long',
};

type Settled = readonly PromiseSettledResult<QueryResult>[];

/** Opens a pool of connections to Postgres. The pool connects at the first statement. */
export function openPostgres(options: DatabaseOptions & { readonly url: string }): Database {
  return new PostgresDatabase(options);
}

class PostgresDatabase implements Database {
  readonly engine = 'postgres';
  readonly #pool: pg.Pool;
  /** Errors that broke connections. */
  readonly #brokenClients = new WeakMap<object, Error>();
  readonly #names: Map<string, string> | undefined;
  readonly #writeSilenceMs: number;
  readonly #readSilenceMs: number;
  readonly #disk: DiskWatch;
  #closed: Promise<void> | undefined;

  constructor(options: DatabaseOptions & { readonly url: string }) {
    this.#names = options.preparedStatements === false ? undefined : new Map();
    this.#writeSilenceMs = options.silenceMs ?? WRITE_SILENCE_MS;
    this.#readSilenceMs = options.silenceMs ?? READ_SILENCE_MS;
    this.#disk = new DiskWatch((statements) => this.asOwner(statements, { write: 'short' }), options.onDiskChange);
    this.#pool = new pg.Pool({
      connectionString: options.url,
      max: options.poolSize ?? 10,
      pipeline: true,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEPALIVE_MS,
      connectionTimeoutMillis: CONNECT_MS,
      application_name: 'heddle',
      types,
    });
    // A connection that breaks, idle or in use, is reported to its next user. Without a listener, the event would end
    // the process.
    this.#pool.on('error', () => {});
    this.#pool.on('connect', (client) =>
      client.on('error', (error) => {
        // The first one is the cause. The end of the connection is reported after it.
        if (!this.#brokenClients.has(client)) this.#brokenClients.set(client, error);
      }),
    );
  }

  async inAccount<const Statements extends readonly CompiledQuery<unknown>[]>(
    account: string,
    statements: Statements,
    options: TransactionOptions = {},
  ): Promise<RowsOf<Statements>> {
    for (const statement of statements) checkParameters(statement);
    const begin = CompiledQuery.raw(beginText(options));
    const all = [begin, restrictTo(account, options), ...statements, CompiledQuery.raw('commit')];
    const queries = all.map((statement) => this.#query(statement));
    const results = await this.#transact(queries, options).catch((error) => this.#nameHolder(error, account));
    requireCommitted(results.at(-1));
    // The results are in the order of the statements, and the builder gave each statement the type of its rows.
    return results.slice(2, -1).map((result) => result.rows) as RowsOf<Statements>;
  }

  async withAccountLock<Value>(
    account: string,
    work: (held: AccountAccess) => Promise<Value>,
    by?: string,
  ): Promise<Value> {
    const client = await this.#connect();
    const inAccount: Database['inAccount'] = async (_, statements) => {
      for (const statement of statements) checkParameters(statement);
      const results = await queryAll(
        client,
        statements.map((statement) => this.#query(statement)),
        this.#writeSilenceMs,
      );
      // As in `inAccount`: in the order of the statements.
      return results.map((result) => result.rows) as RowsOf<typeof statements>;
    };
    try {
      const start = [restrictTo(account, { write: true, ...(by === undefined ? {} : { by }) }), lockHead(account)].map(
        (statement) => this.#query(statement),
      );
      await queryAll(client, [{ text: beginText({}) }, ...start], this.#writeSilenceMs);
      const value = await work({ inAccount, countWrittenRows: () => {} });
      const [committed] = await queryAll(client, [{ text: 'commit' }], this.#writeSilenceMs);
      requireCommitted(committed);
      client.release();
      return value;
    } catch (error) {
      // Closing the connection rolls back. Unlike a ROLLBACK, it cannot fail and leaves nothing behind.
      client.release(true);
      return await this.#nameHolder(this.#toKnownError(error, client, { write: true }), account);
    }
  }

  async lookUp<Row>(statement: CompiledQuery<Row>): Promise<readonly Row[]> {
    checkParameters(statement);
    const [result] = await this.#flush([this.#query(statement)]);
    // The builder gave the statement the type of its rows.
    return (result?.rows ?? []) as Row[];
  }

  async asOwner(work: Parameters<Database['asOwner']>[0], options: OwnerOptions = {}): Promise<void> {
    await this.#transactAsOwner(work, options).catch((error: unknown) => {
      // Postgres had not received the commit, so nothing was written.
      if (!isEndedWhileIdle(error)) throw error;
      return this.#transactAsOwner(work, options);
    });
  }

  async #transactAsOwner(work: Parameters<Database['asOwner']>[0], { write }: OwnerOptions): Promise<void> {
    const client = await this.#connect();
    const ask = async (text: string, values?: unknown[]): Promise<QueryResult> => {
      if (write === undefined) return client.query(text, values);
      const silenceMs = this.#writeSilenceMs * (write === 'long' ? longFactor : 1);
      const [answer] = await queryAll(client, [{ text, ...(values === undefined ? {} : { values }) }], silenceMs);
      if (answer === undefined) throw new Internal('a statement had no answer');
      return answer;
    };
    const run: RunSql = async (text, parameters = []) => (await ask(text, [...parameters])).rows;
    try {
      await ask('begin isolation level read committed');
      await ask(limitOwner(write));
      await runOwnerWork(work, run);
      requireCommitted(await ask('commit'));
      client.release();
    } catch (error) {
      // Closing the connection rolls back. Unlike a ROLLBACK, it cannot fail and leaves nothing behind.
      client.release(true);
      throw this.#toKnownError(error, client, { write: true });
    }
  }

  countWrittenRows(): void {}

  pool(): PoolUse {
    const { totalCount, idleCount: idle, waitingCount: waiting, options } = this.#pool;
    return { busy: totalCount - idle, idle, waiting, max: options.max ?? totalCount };
  }

  async ping(): Promise<void> {
    await this.#flush([{ text: 'select 1' }]);
    this.#disk.requireSpace();
  }

  close(): Promise<void> {
    this.#disk.stop();
    this.#closed ??= this.#pool.end();
    return this.#closed;
  }

  async #connect(): Promise<PoolClient> {
    try {
      return await this.#pool.connect();
    } catch (error) {
      throw connectionRefusalOf(error) ?? unavailableError(error, undefined);
    }
  }

  /**
   * Sends all queries in one write, and waits for every answer before it throws, so that no answer is left unread on
   * the connection.
   */
  async #flush(queries: readonly QueryConfig[]): Promise<readonly QueryResult[]> {
    const client = await this.#connect();
    const results = await send(client, queries, this.#readSilenceMs);
    const failure = results.find((result) => result.status === 'rejected')?.reason;
    if (failure === undefined) {
      client.release();
      return results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    }
    const error = this.#toKnownError(failure, client, {});
    client.release(error instanceof Unavailable || !(failure instanceof pg.DatabaseError));
    throw error;
  }

  /**
   * Like `#flush`, for the statements of one transaction: after an error, the remaining statements are not executed.
   */
  async #transact(queries: readonly QueryConfig[], options: TransactionOptions): Promise<readonly QueryResult[]> {
    const client = await this.#connect();
    const silenceMs = options.write === true ? this.#writeSilenceMs : this.#readSilenceMs;
    const stop = watchSilence(client.connection.stream, silenceMs);
    try {
      const results = await sendPipelined(client, queries, types);
      client.release();
      return results;
    } catch (failure) {
      const error = this.#toKnownError(failure, client, options);
      const isLost = error instanceof Unavailable || !(failure instanceof pg.DatabaseError);
      client.release(isLost || !(await rollBack(client)));
      throw error;
    } finally {
      stop();
    }
  }

  #query(statement: CompiledQuery): QueryConfig {
    const query = { text: statement.sql, values: [...statement.parameters] };
    const name = this.#name(statement.sql);
    return name === undefined ? query : { ...query, name };
  }

  #name(text: string): string | undefined {
    if (text.startsWith(unpreparedStatementPrefix)) return undefined;
    const known = this.#names?.get(text);
    if (known !== undefined || this.#names === undefined || this.#names.size >= NAMED_STATEMENTS) return known;
    const name = `h_${createHash('sha256').update(text).digest('base64url').slice(0, 16)}`;
    this.#names.set(text, name);
    return name;
  }

  /**
   * Throws the error. When the caller waited in vain for the lock of the account, the error names the holder of the
   * lock.
   */
  async #nameHolder(error: unknown, account: string): Promise<never> {
    if (!(error instanceof Conflict) || error.reason !== 'locked') throw error;
    // Without a known holder, the refusal is still the same.
    const [holder] = await this.lookUp(holderQuery(account)).catch(() => []);
    throw new Conflict('locked', heldMessage(account, holder), { cause: error.cause });
  }

  #toKnownError(error: unknown, client: PoolClient, { write, snapshot }: TransactionOptions): unknown {
    const broken = this.#brokenClients.get(client);
    const lost = () =>
      unavailableError(broken ?? error, write === true ? () => endSession(this, sessionProcessId(client)) : undefined);
    if (broken !== undefined) return lost();
    if (!(error instanceof pg.DatabaseError) || error.code === undefined) return error;
    if (UNREACHABLE.test(error.code)) return lost();
    // A write in a snapshot is a defect: that transaction was begun read-only.
    if (error.code === readOnlyTransaction && snapshot !== true) return new ReadOnlyDatabase(error);
    if (error.code === '55P03') return new Conflict('locked', heldMessage('', undefined), { cause: error });
    const slow = TOO_SLOW[error.code];
    const shortage = shortageOf(error);
    if (shortage !== undefined) return this.#disk.recordShortage(shortage);
    if (slow !== undefined) return new Unavailable(`The database did not answer in time: ${slow}.`, { cause: error });
    return isStatementForgotten(error) ? forgottenStatementError(error) : error;
  }
}

/** Returns the process ID of the connection's session, by which other sessions find it; 0 before it is received. */
function sessionProcessId(client: PoolClient): number {
  return 'processID' in client && typeof client.processID === 'number' ? client.processID : 0;
}

/**
 * Throws unless the transaction was committed. COMMIT of a failed transaction succeeds, and only its tag shows that
 * nothing was written.
 */
function requireCommitted(answer: QueryResult | undefined): void {
  if (answer?.command === 'COMMIT') return;
  throw new Internal(`The transaction was not committed: the server answered ${answer?.command}.`);
}

async function send(client: PoolClient, queries: readonly QueryConfig[], silenceMs: number): Promise<Settled> {
  const { stream } = client.connection;
  const stop = watchSilence(stream, silenceMs);
  stream.cork();
  const answers = queries.map((query) => sendQuery(client, query, types));
  stream.uncork();
  const results = await Promise.allSettled(answers);
  stop();
  return results;
}

/** Destroys a connection that receives no data for `silenceMs`. Returns a function that stops the watch. */
function watchSilence(stream: Duplex, silenceMs: number): () => void {
  let isSilent = true;
  const hear = () => {
    isSilent = false;
  };
  const timer = setInterval(() => {
    if (isSilent) stream.destroy(new Error(`no answer within ${silenceMs / 1000} s`));
    isSilent = true;
  }, silenceMs);
  stream.on('data', hear);
  return () => {
    clearInterval(timer);
    stream.off('data', hear);
  };
}

/** Returns the answers to all queries, or throws the first failure. */
async function queryAll(
  client: PoolClient,
  queries: readonly QueryConfig[],
  silenceMs: number,
): Promise<readonly QueryResult[]> {
  const results = await send(client, queries, silenceMs);
  return results.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
}

// Whether the connection uses a prepared statement that the server does not know, or whose columns a migration has
// changed since.
function isStatementForgotten(error: pg.DatabaseError): boolean {
  return error.code === '26000' || (error.code === '0A000' && error.routine === 'RevalidateCachedQuery');
}

function forgottenStatementError(cause: unknown): Unavailable {
  const advice =
    'try again; behind a PgBouncer that does not track prepared statements, set HEDDLE_PREPARED_STATEMENTS=false';
  return new Unavailable(`The database no longer has a prepared statement: ${advice}.`, { cause });
}

/** Rolls the failed transaction back. Returns whether the connection may be used again. */
async function rollBack(client: PoolClient): Promise<boolean> {
  return await client.query('rollback').then(
    () => true,
    () => false,
  );
}

const types = { getTypeParser: parserOf };

function parserOf(oid: number, format?: 'text' | 'binary'): (text: string) => unknown {
  return columnParsers[oid] ?? pg.types.getTypeParser(oid, format);
}
