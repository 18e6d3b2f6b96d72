import type { Engine } from '../engine/engine.ts';
import type { Json } from '../lib/json.ts';
import { createIntake, type Intake } from './ingest.ts';
import type { FeedRetention } from './maintenance.ts';
import { type RefusedRecord, readProxyReport } from './proxy-report.ts';

/** What one report says: its records under the name of a batch. */
export interface Reported {
  readonly account: string;
  readonly reporter: string;
  readonly batch: string;
  readonly records: readonly Json[];
}

/** Takes in what is reported. */
export interface Feeds {
  readonly intake: Intake;
  readonly kept: FeedRetention;
  /** Stores requests that went through a proxy; answers which records were refused. */
  takeRequests(reported: Reported): Promise<readonly RefusedRecord[]>;
  close(): Promise<void>;
}

const day = 86_400_000;

/** Creates the intake of a server. */
export function createFeeds({ database, now }: Pick<Engine, 'database' | 'now'>, kept: FeedRetention): Feeds {
  const intake = createIntake(database);
  return {
    intake,
    kept,
    async takeRequests(reported) {
      const span = { now: Date.parse(now()), keptMs: kept.proxy * day };
      const { report, refused } = readProxyReport(reported, span);
      if (report.rows.length > 0) await intake.take(report);
      return refused;
    },
    close: () => intake.close(),
  };
}
