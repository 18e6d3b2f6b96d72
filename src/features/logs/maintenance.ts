import { setTimeout as wait } from 'node:timers/promises';
import type { Engine } from '../../commit/engine.ts';
import type { Database } from '../../db/database.ts';
import { agedAuditLogs, deleteAgedEvents } from '../../db/logs/audit-retention.ts';
import { deleteBatchesBefore, dropPartitionsBefore, makePartitionsAhead } from '../../db/logs/feed-partitions.ts';
import { feeds } from '../../db/logs/feeds.ts';

/** Number of days for which records are kept, by feed. */
export interface FeedRetention {
  readonly proxy: number;
  readonly traffic: number;
}

const day = 86_400_000;
/** Number of days after which the names of batches are forgotten. Reports are not repeated after that time. */
const batchDays = 3;

/**
 * Creates partitions ahead of time, and drops the partitions whose retention is over. Returns the dropped partitions.
 */
export async function maintainFeeds(database: Database, kept: FeedRetention, now: number): Promise<readonly string[]> {
  await makePartitionsAhead(database, now);
  const dropped: string[] = [];
  for (const feed of feeds) dropped.push(...(await dropPartitionsBefore(database, feed, now - kept[feed.name] * day)));
  await deleteBatchesBefore(database, now - batchDays * day);
  return dropped;
}

/**
 * Deletes audit events older than `days`, account by account, and returns the number of deleted events. Events that a
 * delivery has not passed yet, or has set aside, are kept.
 */
export async function pruneAuditLogs(
  { database, observer }: Pick<Engine, 'database' | 'observer'>,
  days: number,
  signal?: AbortSignal,
): Promise<number> {
  let deleted = 0;
  for (const account of await agedAuditLogs(database, days)) {
    while (signal?.aborted !== true) {
      const events = await deleteAgedEvents(database, account, days);
      if (events === 0) break;
      deleted += events;
      observer.report({ what: 'audit_deleted', events });
      // Other work of the process gets its turn between two statements.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  return deleted;
}

/** Options of the loop that maintains the logs. */
export interface LogLoopOptions {
  readonly engine: Pick<Engine, 'database' | 'observer'>;
  readonly retention: FeedRetention;
  /** Number of days for which audit events are kept. Absent: they are kept forever. */
  readonly auditDays: number | undefined;
  now(): number;
  /** Called with errors. The next round tries again. */
  failed(what: string, error: unknown): void;
}

const roundMs = 3_600_000;

/**
 * Maintains the logs at once and then hourly. Returns a function that stops the loop after the step that is running.
 */
export function runLogLoop({ engine, retention, auditDays, now, failed }: LogLoopOptions): () => Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;
  const loop = async (): Promise<void> => {
    while (!signal.aborted) {
      await maintainFeeds(engine.database, retention, now()).catch((error) =>
        failed('the partitions of logs could not be maintained', error),
      );
      if (auditDays !== undefined)
        await pruneAuditLogs(engine, auditDays, signal).catch((error) =>
          failed('old audit events could not be deleted', error),
        );
      // Stopping the loop aborts the wait.
      await wait(roundMs * (0.9 + Math.random() * 0.2), undefined, { signal, ref: false }).catch(() => {});
    }
  };
  const ended = loop();
  return async () => {
    stopping.abort();
    await ended;
  };
}
