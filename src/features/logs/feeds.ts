import type { Engine } from '../../commit/engine.ts';
import { proxyFeed, trafficFeed } from '../../db/logs/feeds.ts';
import type { Json } from '../../lib/json.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import type { Stored } from '../../model/state/stored.ts';
import { createIntake, type Report } from './ingest.ts';
import { createListedValuesCache, type ListedValues } from './listings.ts';
import type { FeedRetention } from './maintenance.ts';
import { type RefusedRecord, readProxyReport } from './proxy-report.ts';
import { createTrafficNames, trafficRefusalOf } from './traffic-names.ts';
import { readTrafficReport } from './traffic-report.ts';

/** A report: its records, and the name of the batch. */
export interface IncomingReport {
  readonly account: string;
  readonly reporter: string;
  readonly batch: string;
  readonly records: readonly Json[];
}

/** Stores reports of proxies and peers. */
export interface Feeds {
  /** Stores requests that proxies handled. Returns the records that were refused. */
  storeRequests(reported: IncomingReport): Promise<readonly RefusedRecord[]>;
  /** Stores traffic of a peer if the account's settings want it stored. */
  storeTraffic(
    of: Snapshot,
    peer: Stored<'Peer'>,
    reported: Omit<IncomingReport, 'account' | 'reporter'>,
  ): Promise<TrafficReportResult>;
  close(): Promise<void>;
}

/** Result of a report of traffic. */
export interface TrafficReportResult {
  readonly refused: readonly RefusedRecord[];
  /** Reason why no record was stored. Absent when the report was accepted. */
  readonly dropped?: string;
}

const day = 86_400_000;

/** Creates the intake for reports of proxies and peers. */
export function createFeeds(engine: Engine, kept: FeedRetention): Feeds {
  const { database, now } = engine;
  const intake = createIntake(database);
  const listings = createListedValuesCache(database, now);
  const store = async (report: Report, listing: ListedValues): Promise<void> => {
    if (report.rows.length === 0) return;
    await intake.take(report);
    listing.noteListed(report.values);
  };
  return {
    async storeRequests(reported) {
      const span = { now: Date.parse(now()), keptMs: kept.proxy * day };
      const listing = await listings.of(proxyFeed, reported.account);
      const { report, refused } = readProxyReport(reported, span, listing);
      await store(report, listing);
      return refused;
    },
    async storeTraffic(state, peer, reported) {
      const dropped = trafficRefusalOf(engine, state, peer);
      if (dropped !== undefined) return { refused: [], dropped };
      const span = { now: Date.parse(now()), keptMs: kept.traffic * day };
      const of = { ...reported, account: state.account, reporter: peer.id };
      const listing = await listings.of(trafficFeed, state.account);
      const { report, refused } = readTrafficReport(of, span, listing, await createTrafficNames(engine, state, peer));
      await store(report, listing);
      return { refused };
    },
    close: () => intake.close(),
  };
}
