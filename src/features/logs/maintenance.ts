import { setTimeout as wait } from 'node:timers/promises';
import type { Database } from '../../db/database.ts';
import { dropBefore, forgetBatches, makePartitionsAhead } from '../../db/logs/feed-partitions.ts';
import { feeds } from '../../db/logs/feeds.ts';

/** For how many days records are kept, by feed. */
export interface FeedRetention {
  readonly proxy: number;
  readonly traffic: number;
}

const day = 86_400_000;
/** After so long no report is repeated. */
const batchDays = 3;

/** Creates partitions ahead and drops those whose retention is over. */
export async function maintainFeeds(database: Database, kept: FeedRetention, now: number): Promise<readonly string[]> {
  await makePartitionsAhead(database, now);
  const dropped: string[] = [];
  for (const feed of feeds) dropped.push(...(await dropBefore(database, feed, now - kept[feed.name] * day)));
  await forgetBatches(database, now - batchDays * day);
  return dropped;
}

/** How feeds are looked after. */
export interface FeedLoop {
  readonly database: Database;
  readonly kept: FeedRetention;
  now(): number;
  /** Called with errors; the next round tries again. */
  failed(error: unknown): void;
}

const rounds = 3_600_000;

/** Looks after the feeds at once and then hourly. The function it returns stops it. */
export function runFeedLoop({ database, kept, now, failed }: FeedLoop): () => Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;
  const loop = async (): Promise<void> => {
    while (!signal.aborted) {
      await maintainFeeds(database, kept, now()).catch(failed);
      // Being stopped ends the wait.
      await wait(rounds * (0.9 + Math.random() * 0.2), undefined, { signal, ref: false }).catch(() => {});
    }
  };
  const ended = loop();
  return async () => {
    stopping.abort();
    await ended;
  };
}
