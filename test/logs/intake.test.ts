import { describe, expect, it } from 'vitest';
import { proxyFeed } from '../../src/db/logs/feeds.ts';
import { createIntake, type IntakeLimits, type Report } from '../../src/features/logs/ingest.ts';
import { createListedValuesCache } from '../../src/features/logs/listings.ts';
import { readProxyReport } from '../../src/features/logs/proxy-report.ts';
import { testDatabase } from '../setup/database.ts';
import { noon } from './filled.ts';

const span = { now: noon, keptMs: 30 * 86_400_000 };
const clock = () => new Date(noon).toISOString();

describe('the intake of logs', () => {
  const work = async (limits: Partial<IntakeLimits>) => {
    const made = await testDatabase('postgres');
    const intake = createIntake(made.database, limits);
    const listings = createListedValuesCache(made.database, clock);
    const reportOf = async (account: string, batch: string, count: number): Promise<Report> => {
      const listing = await listings.of(proxyFeed, account);
      const records = Array.from({ length: count }, () => ({ timestamp: clock(), host: `${account}.example.com` }));
      return readProxyReport({ account, reporter: 'proxy', batch, records }, span, listing).report;
    };
    return {
      ...{ intake, reportOf },
      async [Symbol.asyncDispose]() {
        await intake.close();
        await made[Symbol.asyncDispose]();
      },
    };
  };

  it('refuses an account that exceeds its share of waiting records, but never one with nothing waiting', async () => {
    await using setup = await work({ maxWaitingRows: 100 });
    const { intake, reportOf } = setup;
    const [first, second, third, other, more] = await Promise.all([
      reportOf('loud', '1', 60),
      reportOf('loud', '2', 40),
      reportOf('loud', '3', 1),
      reportOf('quiet', '1', 30),
      reportOf('quiet', '2', 21),
    ]);
    const taken = [intake.take(first), intake.take(second)];
    expect(() => intake.take(third)).toThrow('100 records are already waiting to be stored');
    taken.push(intake.take(other));
    // Two accounts have records waiting now, so each account may use half of the limit.
    expect(() => intake.take(more)).toThrow('30 records are already waiting to be stored');
    await Promise.all(taken);
    await intake.take(third);
    await intake.take(more);
  });

  it('accepts a report larger than the limit of waiting records when its account has nothing waiting', async () => {
    await using setup = await work({ maxWaitingRows: 10 });
    await setup.intake.take(await setup.reportOf('loud', '1', 50));
  });

  it('alternates between accounts: one with little to store does not wait for all records of another', async () => {
    await using setup = await work({ maxConcurrentStatements: 1, maxRowsPerStatement: 10 });
    const { intake, reportOf } = setup;
    const order: string[] = [];
    const reports = await Promise.all(['1', '2', '3', '4'].map((batch) => reportOf('loud', batch, 10)));
    reports.push(await reportOf('quiet', '1', 10));
    await Promise.all(
      reports.map(({ account, batch, ...rest }) =>
        intake.take({ account, batch, ...rest }).then(() => order.push(`${account} ${batch}`)),
      ),
    );
    expect(order).toEqual(['loud 1', 'quiet 1', 'loud 2', 'loud 3', 'loud 4']);
  });
});
