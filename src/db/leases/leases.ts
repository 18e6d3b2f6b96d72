import { statement } from '../builder.ts';
import type { Database } from '../database.ts';

/**
 * The right of this process to run a loop for a while. `fence` grows whenever another process gets the lease, so that a
 * holder that slept through that is distinguished from the current holder.
 */
export interface Lease {
  readonly account: string;
  /** Name of the loop within the account. */
  readonly name: string;
  readonly owner: string;
  readonly fence: number;
}

/** A lease to take, with its duration in seconds. Only the database's clock counts. */
export type LeaseRequest = Omit<Lease, 'fence'> & { readonly seconds: number };

/**
 * Takes a lease that is free, has expired, or is held by the same owner. Returns `undefined` when another owner holds
 * it, or when the account does not exist.
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
  where leases.until <= clock_timestamp()
    or (leases.owner = excluded.owner and leases.until > clock_timestamp())
returning fence`;

/** Returns the owner that holds a lease now, or `undefined` when the lease is free. */
export async function leaseOwner(database: Database, account: string, name: string): Promise<string | undefined> {
  const [[found]] = await database.inAccount(account, [
    statement<{ readonly owner: string }>(
      'select owner from leases where account_id = $1 and name = $2 and until > clock_timestamp()',
      [account, name],
    ),
  ]);
  return found?.owner;
}

/**
 * Extends a lease to `seconds` from now. Returns false when the lease is no longer held: it must then be taken again.
 */
export async function renewLease(database: Database, lease: Lease, seconds: number): Promise<boolean> {
  const [rows] = await database.inAccount(lease.account, [heldStatement(renewText, lease, String(seconds))]);
  return rows.length === 1;
}

/** Releases a lease, so that other owners need not wait for its end. A late renewal does not restore it. */
export async function releaseLease(database: Database, lease: Lease): Promise<void> {
  await database.inAccount(lease.account, [heldStatement(releaseText, lease)]);
}

/** Reason why a lease could not be renewed. */
export type LeaseLoss =
  /** The lease expired `seconds` seconds ago and is free. */
  | { readonly state: 'over'; readonly seconds: number }
  /** Another owner holds the lease. */
  | { readonly state: 'taken'; readonly owner: string }
  /** The lease was revoked or released. */
  | { readonly state: 'revoked' }
  /** The lease does not exist, and most likely the account does not exist either. */
  | { readonly state: 'gone' };

/** Returns the reason why a lease could not be renewed. */
export async function explainLeaseLoss(database: Database, { account, name, owner, fence }: Lease): Promise<LeaseLoss> {
  const [[row]] = await database.inAccount(account, [
    statement<{ readonly owner: string; readonly fence: number; readonly over: number }>(explainText, [account, name]),
  ]);
  if (row === undefined) return { state: 'gone' };
  if (row.fence === fence) return { state: 'over', seconds: Math.max(0, row.over) };
  return row.owner === owner || row.over >= 0 ? { state: 'revoked' } : { state: 'taken', owner: row.owner };
}

const explainText = `select owner, fence, extract(epoch from clock_timestamp() - until)::float8 as over
from leases where account_id = $1 and name = $2`;

/** Revokes a lease. Later writes of its holder are refused. */
export async function revokeLease(database: Database, account: string, name: string): Promise<void> {
  await database.inAccount(account, [
    statement('update leases set until = clock_timestamp(), fence = fence + 1 where account_id = $1 and name = $2', [
      account,
      name,
    ]),
  ]);
}

/**
 * Ends all leases of an embedded database. Only one server at a time uses it, so the server that opens it knows that
 * earlier servers have ended, however they ended.
 */
export async function endLeases(database: Database): Promise<void> {
  if (database.engine !== 'embedded') return;
  await database.asOwner(['update leases set until = clock_timestamp() where until > clock_timestamp()']);
}

/** Returns a statement whose first four parameters are the ones that `isHeld` compares. */
function heldStatement(text: string, { account, name, owner, fence }: Lease, ...more: readonly string[]) {
  return statement<{ readonly fence: number }>(text, [account, name, owner, fence, ...more]);
}

const isHeld = 'account_id = $1 and name = $2 and owner = $3 and fence = $4 and until > clock_timestamp()';
const renewText = `update leases set until = clock_timestamp() + $5::text::interval second where ${isHeld} returning fence`;
const releaseText = `update leases set until = clock_timestamp(), fence = fence + 1 where ${isHeld}`;
