import type { Database } from '../../db/database.ts';
import { makePartitions, weekOf } from '../../db/logs/feed-partitions.ts';
import { type FeedWrite, writeFeed } from '../../db/logs/feed-write.ts';
import type { Feed } from '../../db/logs/feeds.ts';
import { codeOf } from '../../lib/error-code.ts';
import type { JsonObject } from '../../lib/json.ts';
import { Unavailable } from '../../model/errors.ts';

/** One report: its records as rows, what is counted for them, and the values behind their keys. */
export interface Report {
  readonly feed: Feed;
  readonly account: string;
  readonly reporter: string;
  /** Names the report among those of the reporter; a repeated one is stored once. */
  readonly batch: string;
  readonly rows: readonly JsonObject[];
  readonly parts: ReadonlyMap<number, readonly number[]>;
  readonly values: readonly { readonly field: string; readonly key: number; readonly value: string }[];
}

/** Takes reports and stores them together, in the order in which they come; accounts take turns. */
export interface Intake {
  /** Resolves when the report is stored. Throws `Unavailable` when too much of the account waits already. */
  take(report: Report): Promise<void>;
  /** Stores what waits. */
  close(): Promise<void>;
}

/** How much may wait, and how much is done at once. */
export interface IntakeLimits {
  /**
   * How many rows may wait, shared evenly by the accounts that have any. An account of which nothing waits is never
   * refused: those who send much cannot keep it out.
   */
  readonly waiting: number;
  /** How many statements run at once, so that connections are left for everything else. */
  readonly lanes: number;
  /** How many rows one statement stores at the most. */
  readonly together: number;
}

const usual: IntakeLimits = { waiting: 50_000, lanes: 4, together: 5_000 };
/** Two servers that count the same hours may stop each other; one of them tries again. */
const attempts = 5;

interface Waiting {
  readonly report: Report;
  resolve(): void;
  reject(error: unknown): void;
}

/** Stores reports of one account and feed one statement after another, those that wait together in one. */
export function createIntake(database: Database, limits: Partial<IntakeLimits> = {}): Intake {
  const { waiting: atMost, lanes, together: mostTogether } = { ...usual, ...limits };
  const queues = new Map<string, Waiting[]>();
  /** The queues that wait for their turn. */
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
    while (running.size < lanes && turns.length > 0) {
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
        throw new Unavailable(`${own} records wait to be stored already; send the report again in a second`);
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

/** Adds to what is counted under a key; nothing is kept of what is at zero. */
function addTo(counts: Map<string, number>, key: string, count: number): void {
  const sum = (counts.get(key) ?? 0) + count;
  if (sum > 0) counts.set(key, sum);
  else counts.delete(key);
}

/** What waits, as much as one statement stores; a report that comes again waits for its own turn. */
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

/** Stores reports together; each caller gets its own outcome. */
async function store(database: Database, waiting: readonly Waiting[], known: Set<string>): Promise<void> {
  try {
    const write = together(waiting.map(({ report }) => report));
    await partitionsFor(database, write, known);
    await persistently(database, write);
    for (const { resolve } of waiting) resolve();
  } catch (error) {
    for (const { reject } of waiting) reject(error);
  }
}

function together(reports: readonly Report[]): FeedWrite {
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

/** Makes the partitions that the rows need; those that were made once are remembered. */
async function partitionsFor(database: Database, { feed, rows }: FeedWrite, known: Set<string>): Promise<void> {
  const weeks = new Set(rows.map((row) => weekOf(Date.parse(String(row['timestamp'])))));
  const missing = [...weeks].filter((week) => !known.has(`${feed.name} ${week}`));
  if (missing.length === 0) return;
  await makePartitions(database, feed, missing);
  for (const week of missing) known.add(`${feed.name} ${week}`);
}

async function persistently(database: Database, write: FeedWrite): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await writeFeed(database, write);
      return;
    } catch (error) {
      if (attempt === attempts || codeOf(error) !== '40P01') throw error;
    }
  }
}
