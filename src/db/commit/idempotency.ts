import type { Json } from '../../lib/json.ts';
import { statement } from '../builder.ts';
import type { Database } from '../database.ts';

/**
 * An attempt to answer a request: the time when the request first arrived, and the time when this attempt began, in
 * microseconds.
 */
export interface RequestAttempt {
  readonly since: number;
  readonly attempted: number;
}

/** Stored state of a request when it arrives. */
export interface KnownRequest extends RequestAttempt {
  /** Whether this attempt is the first one. */
  readonly fresh: boolean;
  readonly hash: string;
  /** The stored response. Null until the request has been answered. */
  readonly status: number | null;
  readonly answer: Json | null;
  /** Whether the unanswered attempt is so old that another attempt may replace it. */
  readonly lapsed: boolean;
}

const times = `(extract(epoch from created_at) * 1000000)::bigint as since,
  (extract(epoch from attempted_at) * 1000000)::bigint as attempted`;
const columns = `${times}, request_hash as hash, status, answer`;

const dayAgo = "now() - interval '24 hours'";

/**
 * Returns the condition that a stored response has expired. Responses are kept for a day. Responses with values that
 * are shown only once are kept for a week, but these values only for a day.
 */
function expiredCondition(table: string): string {
  const hadSecrets = `coalesce(${table}.answer ?| array['sealed', 'masked'], false)`;
  return `${table}.created_at < now() - case when ${hadSecrets} then interval '7 days' else interval '24 hours' end`;
}
const maskedAnswer = `(answer - 'sealed' || '{"masked": true}')`;

/**
 * Records a request, unless it was recorded within a day. `by` identifies this attempt: when the response of the
 * database is lost and the request is recorded again, it still counts as the first one. Returns `undefined` when
 * another request with this key arrived at the same moment: call again.
 */
export async function recordRequest(
  database: Database,
  account: string,
  { key, hash, by }: { readonly key: string; readonly hash: string; readonly by: string },
): Promise<KnownRequest | undefined> {
  const parameters = [account, key, hash, JSON.stringify({ by })];
  const [[found]] = await database.inAccount(account, [statement<KnownRequest>(recordText, parameters)], {
    write: true,
  });
  return found;
}

const recordText = `with fresh as (
  insert into idempotency_keys as k (account_id, key, request_hash, created_at, attempted_at, answer)
  values ($1, $2, $3, now(), now(), $4::jsonb)
  on conflict (account_id, key) do update
    set request_hash = excluded.request_hash, created_at = now(), attempted_at = now(), status = null, answer = excluded.answer
    where ${expiredCondition('k')}
  returning *
)
select true as fresh, ${columns}, false as lapsed from fresh
union all
select coalesce(status is null and answer = $4::jsonb, false), ${times}, request_hash, status,
  case when created_at < ${dayAgo} and answer ? 'sealed' then ${maskedAnswer} else answer end,
  attempted_at < now() - interval '30 seconds'
from idempotency_keys where account_id = $1 and key = $2 and not exists (select from fresh)`;

/** Begins another attempt that replaces an abandoned one. Returns `undefined` when another request was faster. */
export async function takeOverRequest(
  database: Database,
  account: string,
  { key, attempted, by }: { readonly key: string; readonly attempted: number; readonly by: string },
): Promise<RequestAttempt | undefined> {
  const [[found]] = await database.inAccount(account, [
    statement<RequestAttempt>(
      `update idempotency_keys set attempted_at = now(), answer = coalesce(answer, '{}') || $4::jsonb
       where account_id = $1 and key = $2 and status is null and (extract(epoch from attempted_at) * 1000000)::bigint = $3
       returning ${columns}`,
      [account, key, attempted, JSON.stringify({ by })],
    ),
  ]);
  return found;
}

/** Stores the response of an attempt, unless another attempt has replaced it. */
export async function keepAnswer(
  database: Database,
  account: string,
  key: string,
  { attempted, status, answer }: { readonly attempted: number; readonly status: number; readonly answer: Json },
): Promise<void> {
  await database.inAccount(
    account,
    [
      statement(
        `update idempotency_keys set status = $4, answer = $5::jsonb
       where account_id = $1 and key = $2 and status is null and (extract(epoch from attempted_at) * 1000000)::bigint = $3`,
        [account, key, attempted, status, JSON.stringify(answer)],
      ),
    ],
    { write: true },
  );
}

/** Ends an attempt without a response, so that the next attempt need not wait. */
export async function abandonRequest(
  database: Database,
  account: string,
  key: string,
  attempted: number,
): Promise<void> {
  await database.inAccount(account, [
    statement(
      `update idempotency_keys set attempted_at = to_timestamp(0)
       where account_id = $1 and key = $2 and status is null and (extract(epoch from attempted_at) * 1000000)::bigint = $3`,
      [account, key, attempted],
    ),
  ]);
}

/**
 * Returns the first revision that one of these requests made. A write in progress may still make one: the caller must
 * rule that out before it repeats a request.
 */
export async function findRequest(
  database: Database,
  account: string,
  requestIds: readonly string[],
): Promise<number | undefined> {
  const [[found]] = await database.inAccount(account, [
    statement<{ readonly revision: number }>(
      'select revision from revisions where account_id = $1 and request_id = any($2) order by revision limit 1',
      [account, requestIds],
    ),
  ]);
  return found?.revision;
}

/** State that attempts without a response left behind. */
export interface StoredEffects {
  /** Whether the request has its response now. If so, look it up again. */
  readonly answered: boolean;
  readonly revision: number | null;
  /** Sealed values that the response would have shown only once. Null after a day. */
  readonly sealed: string | null;
}

/**
 * Reads the state that attempts of a request left behind, in one snapshot. Values are written together with the objects
 * to which they belong.
 */
export async function findStoredEffects(
  database: Database,
  account: string,
  key: string,
  requestIds: readonly string[],
): Promise<StoredEffects | undefined> {
  const [[found]] = await database.inAccount(account, [
    statement<StoredEffects>(effectsText, [account, key, requestIds]),
  ]);
  return found;
}

const effectsText = `select status is not null as answered,
  case when created_at >= ${dayAgo} then answer ->> 'sealed' end as sealed,
  (select min(revision) from revisions where account_id = $1 and request_id = any($3)) as revision
from idempotency_keys where account_id = $1 and key = $2`;

/** Deletes expired requests, and from the others the values that are shown only once after a day. */
export async function deleteExpiredRequests(database: Database, account: string): Promise<void> {
  await database.inAccount(account, [
    statement(`delete from idempotency_keys k where account_id = $1 and ${expiredCondition('k')}`, [account]),
    statement(
      `update idempotency_keys set answer = ${maskedAnswer} where account_id = $1 and created_at < ${dayAgo} and answer ? 'sealed'`,
      [account],
    ),
  ]);
}
