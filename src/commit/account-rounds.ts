import { findAccountsWithEntries } from '../db/accounts/directory.ts';
import type { Database } from '../db/database.ts';
import { type Lease, releaseLease, takeLease } from '../db/leases/leases.ts';
import { NotFound } from '../model/errors.ts';
import { LeaseLost } from './batch.ts';
import { type Report, reportOnce } from './report-once.ts';

/** Work that becomes due in accounts without a request. */
export interface AccountRounds {
  readonly database: Database;
  /** Name of the work, for error messages. */
  readonly subject: string;
  /** Name of the lease. Only the server that holds it for an account works on that account. */
  readonly lease: string;
  /** Name of this server, or of this loop in the server. */
  readonly owner: string;
  /** Kinds of directory entries that accounts with such work have. */
  readonly entries: readonly string[];
  readonly everyMs?: number | undefined;
  /** Called with refusals and errors. The same message is reported at most once an hour. */
  readonly report: Report<'warn' | 'error'>;
  /** Does the work that is due in an account. */
  work(account: string, lease: Lease, report: Report<'warn' | 'error'>): Promise<void>;
}

const defaultIntervalMs = 10_000;

/** Maximum number of accounts in one round. The next round continues after them. */
const accountsPerRound = 100;

/** Duration of the lease on an account, in seconds. */
const leaseSeconds = 60;

/**
 * Does the work of all accounts periodically, each account on one server at a time. Returns a function that stops the
 * rounds and waits for running work.
 */
export function runAccountRounds(given: AccountRounds): () => Promise<void> {
  const rounds = { ...given, report: reportOnce(given.report) };
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let after = '';
  const round = async (): Promise<void> => {
    try {
      after = await workOnNextAccounts(rounds, after);
    } catch (error) {
      reportFailure(rounds, error);
    }
    if (!stopped) timer = setTimeout(start, rounds.everyMs ?? defaultIntervalMs);
  };
  let running: Promise<void> = Promise.resolve();
  const start = (): void => {
    running = round();
  };
  start();
  return async () => {
    stopped = true;
    clearTimeout(timer);
    await running;
  };
}

/**
 * Works on the next accounts. Returns the account after which the next round continues, or an empty string to start
 * again.
 */
async function workOnNextAccounts(rounds: AccountRounds, after: string): Promise<string> {
  const accounts = await findAccountsWithEntries(rounds.database, rounds.entries, after, accountsPerRound);
  for (const account of accounts) await workOnAccount(rounds, account);
  return accounts.length < accountsPerRound ? '' : (accounts.at(-1) ?? '');
}

async function workOnAccount(rounds: AccountRounds, account: string): Promise<void> {
  const { database, lease: name, owner, report } = rounds;
  try {
    const lease = await takeLease(database, { account, name, owner, seconds: leaseSeconds });
    if (lease === undefined) return;
    await rounds.work(account, lease, report);
    await releaseLease(database, lease);
  } catch (error) {
    // The account was deleted, or another server works on it now.
    if (!(error instanceof NotFound || error instanceof LeaseLost)) reportFailure(rounds, error);
  }
}

function reportFailure({ subject, report }: AccountRounds, error: unknown): void {
  report('error', `${subject}: ${error instanceof Error ? error.message : String(error)}; it is tried again`);
}
