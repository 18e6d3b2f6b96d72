import { statement } from '../builder.ts';
import type { Database } from '../database.ts';

/**
 * The right to run a loop for a while, as this process got it. `fence` grows whenever the right goes to another process, so that
 * a holder that slept through that is distinguished from the present one.
 */
export interface Lease {
  readonly account: string;
  /** Names the loop within the account. */
  readonly name: string;
  readonly owner: string;
  readonly fence: number;
}

/** The requested owner and duration. Only the database's clock counts. */
export type LeaseRequest = Omit<Lease, 'fence'> & { readonly seconds: number };

/**
 * Takes a lease that is free, has run out or is the owner's own. `undefined` while another owner has it, and when the
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
  where leases.until <= clock_timestamp()
    or (leases.owner = excluded.owner and leases.until > clock_timestamp())
returning fence`;

/** Who has a lease now. */
export async function leaseOwner(database: Database, account: string, name: string): Promise<string | undefined> {
  const [[found]] = await database.inAccount(account, [
    statement<{ readonly owner: string }>(
      'select owner from leases where account_id = $1 and name = $2 and until > clock_timestamp()',
      [account, name],
    ),
  ]);
  return found?.owner;
}

/** Keeps a lease for so long from now. Returns whether it was still held: once it ran out it must be taken again. */
export async function renewLease(database: Database, lease: Lease, seconds: number): Promise<boolean> {
  const [rows] = await database.inAccount(lease.account, [heldStatement(renewText, lease, String(seconds))]);
  return rows.length === 1;
}

/** Gives a lease back, so that others need not wait for its end. A late renewal does not bring it back. */
export async function releaseLease(database: Database, lease: Lease): Promise<void> {
  await database.inAccount(lease.account, [heldStatement(releaseText, lease)]);
}

/** The state of a lease that could not be renewed. */
export type LostLease =
  /** It ran out so many seconds ago and is free. */
  | { readonly state: 'over'; readonly seconds: number }
  /** Another owner has it. */
  | { readonly state: 'taken'; readonly owner: string }
  /** It was taken away, or given back. */
  | { readonly state: 'revoked' }
  /** There is no such lease, and most likely no such account. */
  | { readonly state: 'gone' };

/** Finds out why a lease could not be renewed. */
export async function explainLost(database: Database, { account, name, owner, fence }: Lease): Promise<LostLease> {
  const [[row]] = await database.inAccount(account, [
    statement<{ readonly owner: string; readonly fence: number; readonly over: number }>(explainText, [account, name]),
  ]);
  if (row === undefined) return { state: 'gone' };
  if (row.fence === fence) return { state: 'over', seconds: Math.max(0, row.over) };
  return row.owner === owner || row.over >= 0 ? { state: 'revoked' } : { state: 'taken', owner: row.owner };
}

const explainText = `select owner, fence, extract(epoch from clock_timestamp() - until)::float8 as over
from leases where account_id = $1 and name = $2`;

/** Takes a lease away from its holder: later writes under it are refused. */
export async function revokeLease(database: Database, account: string, name: string): Promise<void> {
  await database.inAccount(account, [
    statement('update leases set until = clock_timestamp(), fence = fence + 1 where account_id = $1 and name = $2', [
      account,
      name,
    ]),
  ]);
}

/**
 * Ends all leases of an embedded database: it has one server at a time, so the server that opens it knows that earlier
 * ones are gone, however they ended.
 */
export async function endLeases(database: Database): Promise<void> {
  if (database.engine !== 'embedded') return;
  await database.asOwner(['update leases set until = clock_timestamp() where until > clock_timestamp()']);
}

/** A statement about a lease that is held as it was given. */
function heldStatement(text: string, { account, name, owner, fence }: Lease, ...more: readonly string[]) {
  return statement<{ readonly fence: number }>(text, [account, name, owner, fence, ...more]);
}

const isHeld = 'account_id = $1 and name = $2 and owner = $3 and fence = $4 and until > clock_timestamp()';
const renewText = `update leases set until = clock_timestamp() + $5::text::interval second where ${isHeld} returning fence`;
const releaseText = `update leases set until = clock_timestamp(), fence = fence + 1 where ${isHeld}`;
