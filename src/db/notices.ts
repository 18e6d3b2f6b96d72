import pg from 'pg';
import { columnParsers } from './schema.ts';
import { waitUntilSettled } from './wait-until-settled.ts';

/**
 * Sends short messages to all other servers of a database, and receives theirs. The messages are hints: any of them may
 * be lost.
 */
export interface Notices {
  /** Sends a message to every other server. Of messages with the same key, only the newest has to arrive. */
  notify(key: string, message: string): void;
  close(): Promise<void>;
}

/** The database through which messages are sent, and the callbacks for received messages. */
export interface NoticeOptions {
  readonly url: string;
  /** Called with a message of another server. */
  readonly onMessage: (message: string) => void;
  /** Called when the connection was opened again: messages may have been missed. */
  readonly onMissed: () => void;
}

/** Name of the Postgres channel that all messages use. */
export const notifyChannel = 'heddle';

/**
 * How long messages are collected before they are sent, in milliseconds. A message sent separately would cost a fifth
 * of the commit that it is about.
 */
const batchDelayMs = 5;

/**
 * Minimum time between two statements that send messages, in milliseconds. They run beside the commits of a busy
 * account, and every 5 ms they took 7 % of the time of a write.
 */
const sendIntervalMs = 25;

/** Maximum time that `close` waits for the last messages to be sent, in milliseconds. */
const maxCloseWaitMs = 500;

/** Waits before each attempt to reconnect, in milliseconds. */
const reconnectDelaysMs = [100, 500, 2000, 5000, 15_000];

/**
 * Opens one connection that listens, and opens it again whenever it breaks. Messages are sent over this connection,
 * after the commits that they are about: a NOTIFY inside a commit takes a lock that all committing sessions of the
 * database share (16 accounts made 5,200 writes per second without it, and 1,950 with it).
 */
export function openNotices(options: NoticeOptions): Notices {
  return new PostgresNotices(options);
}

class PostgresNotices implements Notices {
  readonly #options: NoticeOptions;
  readonly #pending = new Map<string, string>();
  #client: pg.Client | undefined;
  #sending: Promise<void> | undefined;
  #failures = 0;
  #timer: NodeJS.Timeout | undefined;
  #gathering: NodeJS.Timeout | undefined;
  #connecting: Promise<void>;
  #closed = false;

  constructor(options: NoticeOptions) {
    this.#options = options;
    this.#connecting = this.#connect();
  }

  notify(key: string, message: string): void {
    this.#pending.set(key, message);
    this.#sendAfter(batchDelayMs);
  }

  /** Sends the pending messages after a while, unless that is already scheduled. */
  #sendAfter(delayMs: number): void {
    this.#gathering ??= setTimeout(() => {
      this.#gathering = undefined;
      void this.#send();
    }, delayMs);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#gathering);
    await this.#connecting;
    // A database that does not answer must not delay the end of the server.
    await waitUntilSettled(this.#sendRest(), maxCloseWaitMs);
    await this.#client?.end();
  }

  async #sendRest(): Promise<void> {
    await this.#sending;
    await this.#send();
  }

  async #connect(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.#options.url,
      keepAlive: true,
      keepAliveInitialDelayMillis: 4000,
      connectionTimeoutMillis: 10_000,
      application_name: 'heddle notices',
      types: { getTypeParser: (oid, format) => columnParsers[oid] ?? pg.types.getTypeParser(oid, format) },
    });
    const lost = () => this.#lost(client);
    client.on('error', lost).on('end', lost);
    try {
      await client.connect();
      const pid = await client.query<{ readonly pid: number }>('select pg_backend_pid() as pid');
      client.on('notification', ({ processId, payload }) => {
        if (processId !== pid.rows[0]?.pid && payload !== undefined) this.#options.onMessage(payload);
      });
      await client.query(`listen ${notifyChannel}`);
    } catch {
      // The same cause makes statements fail, and their callers report it. The connection is only tried again.
      await client.end().catch(() => undefined);
      this.#again();
      return;
    }
    this.#failures = 0;
    this.#client = client;
    this.#options.onMissed();
    void this.#send();
  }

  #lost(client: pg.Client): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    this.#again();
  }

  #again(): void {
    if (this.#closed) return;
    const wait = reconnectDelaysMs[Math.min(this.#failures, reconnectDelaysMs.length - 1)] ?? 0;
    this.#failures += 1;
    this.#timer = setTimeout(
      () => {
        this.#connecting = this.#connect();
      },
      wait * (0.5 + Math.random()),
    );
  }

  /**
   * Sends all pending messages in one statement. Messages that arrive during the statement, or soon after it, are sent
   * by the next one.
   */
  async #send(): Promise<void> {
    const client = this.#client;
    if (this.#sending !== undefined || client === undefined || this.#pending.size === 0) return;
    const messages = [...this.#pending.values()];
    this.#pending.clear();
    // Messages that could not be sent are lost, which every receiver must expect.
    this.#sending = client
      .query(`select pg_notify('${notifyChannel}', message) from unnest($1::text[]) message`, [messages])
      .then(
        () => undefined,
        () => undefined,
      );
    if (!this.#closed) this.#sendAfter(sendIntervalMs);
    await this.#sending;
    this.#sending = undefined;
    if (this.#pending.size > 0 && !this.#closed) this.#sendAfter(sendIntervalMs);
  }
}
