import pg, { type PoolClient, type QueryConfig, type QueryResult } from 'pg';

/** The members of a client's connection that are used here. Its declared type leaves them out. */
interface DriverConnection {
  readonly stream: { cork(): void; uncork(): void };
  /** Named statements that were sent and that the server has not confirmed yet. */
  readonly submittedNamedStatements: Record<string, string>;
  execute(portal: { readonly portal: string; readonly rows: number }): void;
  flush(): void;
  sync(): void;
}

/**
 * Members of the driver's query that its declared type leaves out. The version of the driver is pinned, and only this
 * file uses them.
 */
interface DriverQuery {
  name: string | undefined;
  text: string;
  values: unknown[] | undefined;
  /** Called with the first error, or with the result. */
  callback: (error: Error | null, result: QueryResult) => void;
  readonly _result: QueryResult & { _types: unknown };
  readonly _canceledDueToError: unknown;
  prepare(wire: DriverConnection): void;
  handleRowDescription(message: unknown): void;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, wire: DriverConnection): void;
}

/** A statement of a transaction. It is sent without a Sync message: one Sync follows the last statement. */
class TransactionStatement extends pg.Query {
  _getRows(wire: DriverConnection): void {
    wire.execute({ portal: '', rows: 0 });
  }
}

/**
 * Statements that are sent and answered together. The server works through all of them before it answers any but the
 * first. Separate queries would wake the server, and this process, once per query. After an error, the remaining
 * statements are skipped.
 */
class TransactionQuery extends pg.Query {
  readonly #steps: readonly DriverQuery[];
  readonly #done: (error: unknown, results: readonly QueryResult[]) => void;
  #at = 0;

  constructor(steps: readonly DriverQuery[], done: (error: unknown, results: readonly QueryResult[]) => void) {
    super('');
    this.#steps = steps;
    this.#done = done;
    this.#exposeCurrent();
  }

  // Never returns an error, because nothing is refused before it is sent.
  override submit = (connection: unknown): void => {
    // The client passes its own connection.
    const wire = connection as DriverConnection;
    wire.stream.cork();
    for (const [at, step] of this.#steps.entries()) {
      step.prepare(wire);
      // The answer to the first statement shows that the server is alive, however long the other statements take: see
      // `watchSilence`.
      if (at === 0) wire.flush();
    }
    wire.sync();
    wire.stream.uncork();
  };

  handleRowDescription(message: unknown): void {
    this.#steps[this.#at]?.handleRowDescription(message);
  }

  handleDataRow(message: unknown): void {
    this.#steps[this.#at]?.handleDataRow(message);
  }

  handleCommandComplete(message: unknown, wire: DriverConnection): void {
    this.#steps[this.#at]?.handleCommandComplete(message, wire);
    this.#at += 1;
    this.#exposeCurrent();
  }

  handleError(error: unknown, wire: DriverConnection): void {
    // The server skipped these statements and has not parsed them.
    for (const { name } of this.#steps.slice(this.#at + 1)) delete wire.submittedNamedStatements[name ?? ''];
    this.#done(error, []);
  }

  handleReadyForQuery(): void {
    const broken = this.#steps.find((step) => step._canceledDueToError)?._canceledDueToError;
    this.#done(
      broken,
      this.#steps.map((step) => step._result),
    );
  }

  /** Sets the name and text under which the client records the statement that the server reports as parsed. */
  #exposeCurrent(): void {
    const { name, text } = this.#steps[this.#at] ?? {};
    Object.assign(this, { name, text });
  }
}

/** Sends a query. The given types convert the columns of its rows. */
export function sendQuery(
  client: PoolClient,
  query: QueryConfig,
  types: { readonly getTypeParser: unknown },
): Promise<QueryResult> {
  return new Promise((resolve, reject) => {
    const sent = createQuery(pg.Query, query, types);
    sent.callback = (error, result) => (error ? reject(error) : resolve(result));
    client.query(sent as unknown as pg.Query);
  });
}

/**
 * Creates a query of the driver's class. The constructor would copy a config with all its property descriptors, which
 * takes longer than the rest.
 */
function createQuery(
  type: new (text: string) => unknown,
  query: QueryConfig,
  types: { readonly getTypeParser: unknown },
): DriverQuery {
  // The class of the driver has these members.
  const created = new type(query.text) as DriverQuery;
  created.values = query.values;
  created.name = query.name;
  created._result._types = types;
  return created;
}

/**
 * Sends the statements of a transaction in one flush and resolves with the result of each, or rejects with the first
 * error.
 */
export function sendPipelined(
  client: PoolClient,
  queries: readonly QueryConfig[],
  types: { readonly getTypeParser: unknown },
): Promise<readonly QueryResult[]> {
  return new Promise((resolve, reject) => {
    const steps = queries.map((query) => createQuery(TransactionStatement, query, types));
    client.query(new TransactionQuery(steps, (error, results) => (error ? reject(error) : resolve(results))));
  });
}
