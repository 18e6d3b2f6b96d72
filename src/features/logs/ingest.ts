import type { Database } from '../../db/database.ts';
import { makePartitions, weekOf } from '../../db/logs/feed-partitions.ts';
import { type FeedWrite, writeFeed } from '../../db/logs/feed-write.ts';
import type { Feed } from '../../db/logs/feeds.ts';
import { codeOf } from '../../lib/error-code.ts';
import type { JsonObject } from '../../lib/json.ts';
import { Unavailable } from '../../model/errors.ts';

/** A report: its records as rows, the slices that count them, and the values behind their keys. */
export interface Report {
  readonly feed: Feed;
  readonly account: string;
  readonly reporter: string;
  /** Identifies the report among the reports of its reporter. A repeated report is stored once. */
  readonly batch: string;
  readonly rows: readonly JsonObject[];
  readonly parts: ReadonlyMap<number, readonly number[]>;
  readonly values: readonly { readonly field: string; readonly key: number; readonly value: string }[];
}

/** Collects reports and stores them together, in the order of arrival. The accounts take turns. */
export interface Intake {
  /** Resolves when the report is stored. Throws `Unavailable` when too many rows of the account are waiting. */
  take(report: Report): Promise<void>;
  /** Waits until all waiting reports are stored. */
  close(): Promise<void>;
}

/** Limits of the queues, and of the work that runs at once. */
export interface IntakeLimits {
  /**
   * Maximum number of waiting rows, shared evenly by the accounts that have any. An account without waiting rows is
   * never refused, so an account that sends much cannot block it.
   */
  readonly maxWaitingRows: number;
  /** Maximum number of statements that run at once. It leaves connections for all other work. */
  readonly maxConcurrentStatements: number;
  /** Maximum number of rows that one statement stores, unless a single report has more. */
  readonly maxRowsPerStatement: number;
}

const defaultLimits: IntakeLimits = { maxWaitingRows: 50_000, maxConcurrentStatements: 4, maxRowsPerStatement: 5_000 };
/**
 * Maximum number of attempts. Two servers that update the counts of the same hours can deadlock; then one of them tries
 * again.
 */
const maxAttempts = 5;

interface Waiting {
  readonly report: Report;
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * Creates an intake. Reports of one account and feed are stored by one statement after another; waiting reports are
 * combined in one statement.
 */
export function createIntake(database: Database, limits: Partial<IntakeLimits> = {}): Intake {
  const {
    maxWaitingRows: atMost,
    maxConcurrentStatements,
    maxRowsPerStatement: mostTogether,
  } = { ...defaultLimits, ...limits };
  const queues = new Map<string, Waiting[]>();
  /** Keys of the queues that wait for their turn. */
  const turns: string[] = [];
  const running = new Set<Promise<void>>();
  const known = new Set<string>();
  const rows = new Map<string, number>();

  const serve = async (key: string): Promise<void> => {
    const next = takeNext(queues.get(key) ?? [], mostTogether);
    await store(database, next, known);
    for (const { report } of next) addTo(rows, report.account, -report.rows.length);
    if (queues.get(key)?.length === 0) queues.delete(key);
    else turns.push(key);
  };
  const begin = (): void => {
    while (running.size < maxConcurrentStatements && turns.length > 0) {
      const served = serve(turns.shift() ?? '').finally(() => {
        running.delete(served);
        begin();
      });
      running.add(served);
    }
  };
  return {
    take(report) {
      const { account, feed } = report;
      const own = rows.get(account) ?? 0;
      if (own > 0 && own + report.rows.length > atMost / rows.size)
        throw new Unavailable(`${own} records are already waiting to be stored; send the report again in a second`);
      addTo(rows, account, report.rows.length);
      const key = `${feed.name} ${account}`;
      return new Promise((resolve, reject) => {
        const queue = queues.get(key) ?? [];
        if (!queues.has(key)) turns.push(key);
        queues.set(key, queue);
        queue.push({ report, resolve, reject });
        begin();
      });
    },
    async close() {
      while (running.size > 0) await Promise.all(running);
    },
  };
}

/** Adds a number to the count of a key. A count of zero is removed. */
function addTo(counts: Map<string, number>, key: string, count: number): void {
  const sum = (counts.get(key) ?? 0) + count;
  if (sum > 0) counts.set(key, sum);
  else counts.delete(key);
}

/** Takes the waiting reports from the queue that one statement stores, at least one. */
function takeNext(queue: Waiting[], most: number): readonly Waiting[] {
  const taken: Waiting[] = [];
  let rows = 0;
  for (const waiting of queue) {
    rows += waiting.report.rows.length;
    if (taken.length > 0 && rows > most) break;
    taken.push(waiting);
  }
  queue.splice(0, taken.length);
  return taken;
}

/** Stores reports in one statement and settles the promises of their callers. */
async function store(database: Database, waiting: readonly Waiting[], known: Set<string>): Promise<void> {
  try {
    const write = combineReports(waiting.map(({ report }) => report));
    await ensurePartitions(database, write, known);
    await writeWithRetry(database, write);
    for (const { resolve } of waiting) resolve();
  } catch (error) {
    for (const { reject } of waiting) reject(error);
  }
}

function combineReports(reports: readonly Report[]): FeedWrite {
  const [first] = reports;
  if (first === undefined) throw new Error('nothing waits');
  const unique = new Map(reports.map((report) => [`${report.reporter} ${report.batch}`, report]));
  const chosen = [...unique.values()];
  const parts = new Map(chosen.flatMap((report) => [...report.parts]));
  const values = new Map(
    chosen.flatMap((report) => report.values.map((value) => [`${value.field} ${value.key}`, value])),
  );
  return {
    feed: first.feed,
    account: first.account,
    batches: chosen.map(({ reporter, batch }) => ({ reporter, batch })),
    rows: chosen.flatMap((report, batch) => report.rows.map((row) => ({ ...row, batch }))),
    parts: [...parts].flatMap(([slice, list]) => list.map((part) => ({ slice, part }))),
    values: [...values.values()],
  };
}

/** Creates the partitions that the rows need. `known` remembers the partitions that exist. */
async function ensurePartitions(database: Database, { feed, rows }: FeedWrite, known: Set<string>): Promise<void> {
  const weeks = new Set(rows.map((row) => weekOf(Date.parse(String(row['timestamp'])))));
  const missing = [...weeks].filter((week) => !known.has(`${feed.name} ${week}`));
  if (missing.length === 0) return;
  await makePartitions(database, feed, missing);
  for (const week of missing) known.add(`${feed.name} ${week}`);
}

async function writeWithRetry(database: Database, write: FeedWrite): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await writeFeed(database, write);
      return;
    } catch (error) {
      if (attempt === maxAttempts || codeOf(error) !== '40P01') throw error;
    }
  }
}
