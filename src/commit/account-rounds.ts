import { accountsWith } from '../db/accounts/directory.ts';
import type { Database } from '../db/database.ts';
import { type Lease, releaseLease, takeLease } from '../db/leases/leases.ts';
import { NotFound } from '../model/errors.ts';
import { LeaseLost } from './batch.ts';
import { type Report, reportOnce } from './report-once.ts';

/** Work that falls due in accounts by itself. */
export interface AccountRounds {
  readonly database: Database;
  /** What the work is about, for messages of failures. */
  readonly subject: string;
  /** An account is worked on by the server that holds this lease of it. */
  readonly lease: string;
  /** Names this server, or this loop of it. */
  readonly owner: string;
  /** The kinds of entries in the directory that accounts with such work have. */
  readonly entries: readonly string[];
  readonly everyMs?: number | undefined;
  /** Called with refusals and errors; those that repeat are left out for an hour. */
  readonly report: Report<'warn' | 'error'>;
  /** Does what is due in an account. */
  work(account: string, lease: Lease, report: Report<'warn' | 'error'>): Promise<void>;
}

const usualMs = 10_000;

/** How many accounts one round is about; the next one goes on from there. */
const accountsAtOnce = 100;

/** How long other servers leave an account to the server that works on it. */
const leaseSeconds = 60;

/**
 * Does the work of all accounts again and again, each account on one server at a time. Returns a function that stops it and
 * waits for what is under way.
 */
export function runAccountRounds(given: AccountRounds): () => Promise<void> {
  const rounds = { ...given, report: reportOnce(given.report) };
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let after = '';
  const round = async (): Promise<void> => {
    try {
      after = await workOnSome(rounds, after);
    } catch (error) {
      reportFailure(rounds, error);
    }
    if (!stopped) timer = setTimeout(start, rounds.everyMs ?? usualMs);
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

/** Works on the next accounts; returns after which one to go on. */
async function workOnSome(rounds: AccountRounds, after: string): Promise<string> {
  const accounts = await accountsWith(rounds.database, rounds.entries, after, accountsAtOnce);
  for (const account of accounts) await workOn(rounds, account);
  return accounts.length < accountsAtOnce ? '' : (accounts.at(-1) ?? '');
}

async function workOn(rounds: AccountRounds, account: string): Promise<void> {
  const { database, lease: name, owner, report } = rounds;
  try {
    const lease = await takeLease(database, { account, name, owner, seconds: leaseSeconds });
    if (lease === undefined) return;
    await rounds.work(account, lease, report);
    await releaseLease(database, lease);
  } catch (error) {
    // The account is gone, or another server works on it now.
    if (!(error instanceof NotFound || error instanceof LeaseLost)) reportFailure(rounds, error);
  }
}

function reportFailure({ subject, report }: AccountRounds, error: unknown): void {
  report('error', `${subject}: ${error instanceof Error ? error.message : String(error)}; it is tried again`);
}
