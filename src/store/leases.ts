import { statement } from './builder.ts';
import type { Database } from './database.ts';

/**
 * The right to run a loop, for a while, as this process was given it. `fence` grows whenever the right changes hands, so
 * that whoever slept through that is told from the one who has it now.
 */
export interface Lease {
  readonly account: string;
  /** Names the loop within the account. */
  readonly name: string;
  readonly owner: string;
  readonly fence: number;
}

/** Whom and for how long. Only the database's clock counts. */
export type LeaseRequest = Omit<Lease, 'fence'> & { readonly seconds: number };

/**
 * Takes a lease that is free, has run out or is the owner's own. `undefined` while somebody else has it, and when the
 * account is gone.
 */
export async function takeLease(database: Database, request: LeaseRequest): Promise<Lease | undefined> {
  const { account, name, owner, seconds } = request;
  const [rows] = await database.inAccount(account, [
    statement<{ readonly fence: number }>(takeText, [account, name, owner, String(seconds)]),
  ]);
  const [row] = rows;
  return row === undefined ? undefined : { account, name, owner, fence: row.fence };
}

const takeText = `insert into leases (account_id, name, owner, until, fence)
select account_id, $2, $3, clock_timestamp() + $4::text::interval second, 1 from accounts where account_id = $1
on conflict (account_id, name) do update
  set owner = excluded.owner, until = clock_timestamp() + $4::text::interval second, fence = leases.fence + 1
  where leases.until <= clock_timestamp() or leases.owner = excluded.owner
returning fence`;

/** Keeps a lease for so long from now. Answers whether it was still held: once it ran out it must be taken again. */
export async function renewLease(database: Database, lease: Lease, seconds: number): Promise<boolean> {
  return changeUntil(database, lease, seconds);
}

/** Gives a lease back, so that somebody else need not wait for its end. */
export async function releaseLease(database: Database, lease: Lease): Promise<void> {
  await changeUntil(database, lease, 0);
}

/** Takes a lease away from whoever has it: what they still want to write is refused. */
export async function revokeLease(database: Database, account: string, name: string): Promise<void> {
  await database.inAccount(account, [
    statement('update leases set until = clock_timestamp(), fence = fence + 1 where account_id = $1 and name = $2', [
      account,
      name,
    ]),
  ]);
}

/**
 * Ends all leases of an embedded database: it has one server at a time, so whoever opens it knows that those before are
 * gone, however they ended.
 */
export async function endLeases(database: Database): Promise<void> {
  if (database.engine !== 'embedded') return;
  await database.asOwner(['update leases set until = clock_timestamp() where until > clock_timestamp()']);
}

async function changeUntil(database: Database, lease: Lease, seconds: number): Promise<boolean> {
  const { account, name, owner, fence } = lease;
  const [rows] = await database.inAccount(account, [
    statement<{ readonly fence: number }>(untilText, [account, name, owner, fence, String(seconds)]),
  ]);
  return rows.length === 1;
}

const untilText = `update leases set until = clock_timestamp() + $5::text::interval second
where account_id = $1 and name = $2 and owner = $3 and fence = $4 and until > clock_timestamp()
returning fence`;
