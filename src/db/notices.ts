import pg from 'pg';
import { columnParsers } from './schema.ts';

/** Carries short messages to all servers of a database and back: hints, of which any may be lost. */
export interface Notices {
  /** Notifies every other server; of messages under one key only the newest need arrive. */
  notify(key: string, message: string): void;
  close(): Promise<void>;
}

/** Where messages are sent, and what to call with those that arrive. */
export interface NoticeOptions {
  readonly url: string;
  /** A message of another server. */
  readonly heard: (message: string) => void;
  /** The connection was re-created: anything may have been missed. */
  readonly missed: () => void;
}

/** Where all messages go. */
export const channel = 'heddle';

/**
 * How long messages are collected, in milliseconds: each of its own would cost as much as a fifth of the commit that it
 * is about.
 */
const gatherMs = 5;

/** Waits before the connection is made again, in milliseconds. */
const waits = [100, 500, 2000, 5000, 15_000];

/**
 * Opens one connection that listens, and opens it again whenever it breaks. Messages are sent over it after the commits
 * that they are about: a NOTIFY inside a commit takes a lock that all committing sessions of the database share (16
 * accounts wrote 5,200 times a second without, 1,950 times with it).
 */
export function openNotices(options: NoticeOptions): Notices {
  return new PostgresNotices(options);
}

class PostgresNotices implements Notices {
  readonly #options: NoticeOptions;
  readonly #pending = new Map<string, string>();
  #client: pg.Client | undefined;
  #sending = false;
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
    this.#gathering ??= setTimeout(() => {
      this.#gathering = undefined;
      void this.#send();
    }, gatherMs);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#gathering);
    await this.#connecting;
    await this.#send();
    await this.#client?.end();
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
        if (processId !== pid.rows[0]?.pid && payload !== undefined) this.#options.heard(payload);
      });
      await client.query(`listen ${channel}`);
    } catch {
      // Whatever hinders it hinders the statements too, which say so; here it is only tried again.
      await client.end().catch(() => undefined);
      this.#again();
      return;
    }
    this.#failures = 0;
    this.#client = client;
    this.#options.missed();
    void this.#send();
  }

  #lost(client: pg.Client): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    this.#again();
  }

  #again(): void {
    if (this.#closed) return;
    const wait = waits[Math.min(this.#failures, waits.length - 1)] ?? 0;
    this.#failures += 1;
    this.#timer = setTimeout(
      () => {
        this.#connecting = this.#connect();
      },
      wait * (0.5 + Math.random()),
    );
  }

  /** Sends all that waits in one statement; what comes meanwhile follows in the next one. */
  async #send(): Promise<void> {
    const client = this.#client;
    if (this.#sending || client === undefined || this.#pending.size === 0) return;
    this.#sending = true;
    const messages = [...this.#pending.values()];
    this.#pending.clear();
    // What could not be sent is lost, which everybody reckons with.
    await client
      .query(`select pg_notify('${channel}', message) from unnest($1::text[]) message`, [messages])
      .catch(() => undefined);
    this.#sending = false;
    void this.#send();
  }
}
