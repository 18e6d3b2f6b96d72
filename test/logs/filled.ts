import type { Database } from '../../src/db/database.ts';
import { proxyFeed, trafficFeed } from '../../src/db/logs/feeds.ts';
import { createIntake } from '../../src/features/logs/ingest.ts';
import { createListedValuesCache, type MaxListedValues } from '../../src/features/logs/listings.ts';
import { readProxyReport } from '../../src/features/logs/proxy-report.ts';
import { readTrafficReport, type TrafficNames } from '../../src/features/logs/traffic-report.ts';
import type { JsonObject } from '../../src/lib/json.ts';

/** The time around which the log records of tests are created, in ms since the epoch. */
export const noon = Date.parse('2026-03-04T12:00:00Z');

/** Retention period in tests: 30 days. */
const span = { now: noon, keptMs: 30 * 86_400_000 };

/** Stores records of proxy requests as one report. */
export async function storeRequests(
  database: Database,
  account: string,
  batch: string,
  records: readonly JsonObject[],
  now = span,
  atMost?: MaxListedValues,
): Promise<void> {
  const intake = createIntake(database);
  const listing = await createListedValuesCache(database, () => new Date(now.now).toISOString(), atMost).of(
    proxyFeed,
    account,
  );
  const { report, refused } = readProxyReport({ account, reporter: 'proxy', batch, records }, now, listing);
  if (refused.length > 0) throw new Error(JSON.stringify(refused));
  await intake.take(report);
  await intake.close();
}

/** Stores traffic records as one report of a peer. */
export async function storeTraffic(
  database: Database,
  account: string,
  batch: string,
  records: readonly JsonObject[],
  names: Partial<TrafficNames> = {},
  now = span,
  atMost?: MaxListedValues,
): Promise<void> {
  const intake = createIntake(database);
  const listing = await createListedValuesCache(database, () => new Date(now.now).toISOString(), atMost).of(
    trafficFeed,
    account,
  );
  const anonymous = { id: '', email: '', name: '' };
  const { report, refused } = readTrafficReport({ account, reporter: 'reporter', batch, records }, now, listing, {
    ...{ peerAt: () => undefined, targetOf: () => undefined, policyOf: () => undefined },
    ...{ reporter: anonymous, counters: true },
    ...names,
  });
  if (refused.length > 0) throw new Error(JSON.stringify(refused));
  await intake.take(report);
  await intake.close();
}
