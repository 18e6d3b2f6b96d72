import type { JsonObject } from '../../lib/json.ts';
import { statement } from '../builder.ts';
import type { AccountAccess } from '../database.ts';

/** Kind of the directory entries of accounts that have claims of pushes which may lapse. */
export const claimEntryKind = 'claim';

/** Claims of the sources of an account, and the sequence number of their last change. */
export interface StoredClaims {
  readonly sequence: number;
  readonly sources: readonly { readonly source: string; readonly claims: JsonObject }[];
}

/**
 * Returns the claims of the sources of an account that are not met yet. Leaves out sources without claims, and lapsed
 * claims.
 */
export async function listClaims(database: AccountAccess, account: string): Promise<StoredClaims> {
  type Row = { readonly sequence: number; readonly source: string | null; readonly claims: JsonObject };
  const [rows] = await database.inAccount(account, [statement<Row>(listText, [account])]);
  const sources = rows.flatMap(({ source, claims }) =>
    source === null || Object.keys(claims).length === 0 ? [] : [{ source, claims }],
  );
  return { sequence: rows[0]?.sequence ?? 0, sources };
}

const lapsedClaimsText = `wanted - 'keys' - 'units'`;

const listText = `select a.claim_sequence as sequence, s.id as source,
  case when s.claim_until <= clock_timestamp() then s.${lapsedClaimsText} else s.wanted end as claims
from accounts a left join sources s on s.account_id = a.account_id and s.wanted <> '{}'
where a.account_id = $1 order by s.id`;

/** New claims of one source. They replace its earlier claims. */
export interface ClaimUpdate {
  readonly source: string;
  /** `{}`: no claims. */
  readonly claims: JsonObject;
  /** Seconds after which the claims lapse, by the database's clock. Absent: never. */
  readonly lapse?: number | undefined;
  /** Time of the write, in ISO 8601. */
  readonly at: string;
}

/**
 * Writes the claims of a source. A source that is not known yet gets a row, which contains only the claims until the
 * source pushes again. Claims are not part of the account's state and make no revision, but a commit that was planned
 * without them is refused.
 */
export async function putClaims(
  held: AccountAccess,
  account: string,
  { source, claims, lapse, at }: ClaimUpdate,
): Promise<void> {
  const seconds = lapse === undefined ? null : String(lapse);
  const parameters = [account, source, JSON.stringify(claims), at, seconds];
  await held.inAccount(account, [statement(putText, parameters)], { write: true });
}

const putText = `with head as (
  update accounts set claim_sequence = claim_sequence + 1 where account_id = $1 returning 1
), entry as (
  insert into directory (account_id, kind, value, subject_id)
  select $1, '${claimEntryKind}', $1, $1 from head where $5::text is not null on conflict do nothing
)
insert into sources (account_id, id, type, spec, wanted, claim_until, created_at)
select $1, $2, 'push', '{}', $3::jsonb, clock_timestamp() + $5::text::interval second, $4::timestamptz from head
where $3::jsonb <> '{}' or exists (select from sources where account_id = $1 and id = $2)
on conflict (account_id, id) do update
  set wanted = excluded.wanted, claim_until = excluded.claim_until, claim_warned = false`;

/** Extends the claims of a push: they lapse `lapse` seconds from now. */
export async function renewClaims(
  held: AccountAccess,
  account: string,
  { source, lapse }: { readonly source: string; readonly lapse: number },
): Promise<void> {
  await held.inAccount(account, [statement(renewText, [account, source, String(lapse)])], { write: true });
}

const renewText = `update sources set claim_until = clock_timestamp() + $3::text::interval second, claim_warned = false
where account_id = $1 and id = $2 and claim_until is not null`;

/** Returns whether a source has made a revision later than `revision`. */
export async function hasNewerRevision(
  held: AccountAccess,
  account: string,
  source: string,
  revision: number,
): Promise<boolean> {
  const text = 'select from revisions where account_id = $1 and revision > $3 and source_id = $2 limit 1';
  const [rows] = await held.inAccount(account, [statement(text, [account, source, revision])]);
  return rows.length > 0;
}

/** Stores the keys that a source claims but does not state yet. */
export async function putClaimedKeys(
  database: AccountAccess,
  account: string,
  source: string,
  keys: readonly string[],
): Promise<void> {
  await database.inAccount(account, [statement(keysText, [account, source, JSON.stringify(keys)])], { write: true });
}

const keysText = `with head as (
  update accounts set claim_sequence = claim_sequence + 1
  where account_id = $1
    and exists (select from sources where account_id = $1 and id = $2 and coalesce(wanted -> 'keys', '[]') <> $3::jsonb)
  returning 1
)
update sources set wanted = jsonb_set(wanted, '{keys}', $3::jsonb) from head where account_id = $1 and id = $2`;

/** Claims of a source that have lapsed (`isOver`), or will lapse soon. */
export interface DueClaims {
  readonly source: string;
  readonly until: Date;
  readonly isOver: boolean;
}

/** Returns whether `endClaims` has anything to do. */
export async function hasDueClaims(database: AccountAccess, account: string, warning: number): Promise<boolean> {
  type Row = { readonly due: boolean };
  const [rows] = await database.inAccount(account, [statement<Row>(dueText, [account, String(warning)])]);
  return rows[0]?.due === true;
}

// A directory entry of an account that has no lapsing claims is due too: `endClaims` deletes it.
const dueText = `select exists (
  select from sources where account_id = $1 and claim_until <= clock_timestamp()
    + case when claim_warned then interval '0' else $2::text::interval second end
) or (
  exists (select from directory where account_id = $1 and kind = '${claimEntryKind}')
  and not exists (select from sources where account_id = $1 and claim_until is not null)
) as due`;

/**
 * Ends the claims of an account that have lapsed by the database's clock, and marks claims that lapse within `warning`
 * seconds. Returns each of them once. `held` must hold the lock of the account.
 */
export async function endClaims(held: AccountAccess, account: string, warning: number): Promise<readonly DueClaims[]> {
  const [, over, soon] = await held.inAccount(
    account,
    [
      statement(bumpText, [account]),
      statement<DueClaims>(overText, [account]),
      statement<DueClaims>(soonText, [account, String(warning)]),
      statement(forgetText, [account]),
    ],
    { write: true },
  );
  return [...over, ...soon];
}

const bumpText = `update accounts set claim_sequence = claim_sequence + 1 where account_id = $1
and exists (select from sources where account_id = $1 and claim_until <= clock_timestamp())`;

// Only the old row has the time at which the claims lapsed.
const overText = `with old as (
  select id, claim_until from sources where account_id = $1 and claim_until <= clock_timestamp()
)
update sources s set wanted = s.${lapsedClaimsText}, claim_until = null, claim_warned = false from old
where s.account_id = $1 and s.id = old.id
returning s.id as source, old.claim_until as until, true as "isOver"`;

const soonText = `update sources set claim_warned = true
where account_id = $1 and not claim_warned and claim_until <= clock_timestamp() + $2::text::interval second
returning id as source, claim_until as until, false as "isOver"`;

const forgetText = `delete from directory where account_id = $1 and kind = '${claimEntryKind}' and value = $1
and not exists (select from sources where account_id = $1 and claim_until is not null)`;
