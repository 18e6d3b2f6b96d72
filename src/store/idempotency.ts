import type { Json } from '../lib/json.ts';
import { lockHead, statement } from './builder.ts';
import type { Database } from './database.ts';

/** An attempt to answer a request: when the request came first, and when this attempt began, in microseconds. */
export interface Attempt {
  readonly since: number;
  readonly attempted: number;
}

/** What is known about a request when it comes. */
export interface KnownRequest extends Attempt {
  /** This attempt is the first one. */
  readonly fresh: boolean;
  readonly hash: string;
  /** The first answer, once there is one. */
  readonly status: number | null;
  readonly answer: Json | null;
  /** The attempt under way is so old that it may be taken over. */
  readonly lapsed: boolean;
}

const columns = `(extract(epoch from created_at) * 1000000)::bigint as since,
  (extract(epoch from attempted_at) * 1000000)::bigint as attempted, request_hash as hash, status, answer`;

/**
 * Notes a request, unless it was noted within a day. `undefined` when another request with this key came at the very same
 * moment: ask again.
 */
export async function noteRequest(
  database: Database,
  account: string,
  key: string,
  hash: string,
): Promise<KnownRequest | undefined> {
  const [[found]] = await database.inAccount(account, [statement<KnownRequest>(noteText, [account, key, hash])]);
  return found;
}

const noteText = `with fresh as (
  insert into idempotency_keys as k (account_id, key, request_hash, created_at, attempted_at) values ($1, $2, $3, now(), now())
  on conflict (account_id, key) do update
    set request_hash = excluded.request_hash, created_at = now(), attempted_at = now(), status = null, answer = null
    where k.created_at < now() - interval '24 hours'
  returning *
)
select true as fresh, ${columns}, false as lapsed from fresh
union all
select false, ${columns}, attempted_at < now() - interval '30 seconds' from idempotency_keys
where account_id = $1 and key = $2 and not exists (select from fresh)`;

/** Begins another attempt in place of one that nobody works on any more; `undefined` when somebody else was faster. */
export async function takeOverRequest(
  database: Database,
  account: string,
  key: string,
  attempted: number,
): Promise<Attempt | undefined> {
  const [[found]] = await database.inAccount(account, [
    statement<Attempt>(
      `update idempotency_keys set attempted_at = now()
       where account_id = $1 and key = $2 and status is null and (extract(epoch from attempted_at) * 1000000)::bigint = $3
       returning ${columns}`,
      [account, key, attempted],
    ),
  ]);
  return found;
}

/** Keeps the answer of an attempt that was not taken over. */
export async function keepAnswer(
  database: Database,
  account: string,
  key: string,
  { attempted, status, answer }: { readonly attempted: number; readonly status: number; readonly answer: Json },
): Promise<void> {
  await database.inAccount(account, [
    statement(
      `update idempotency_keys set status = $4, answer = $5::jsonb
       where account_id = $1 and key = $2 and status is null and (extract(epoch from attempted_at) * 1000000)::bigint = $3`,
      [account, key, attempted, status, JSON.stringify(answer)],
    ),
  ]);
}

/** Gives up an attempt without an answer: the next one need not wait. */
export async function lapseRequest(database: Database, account: string, key: string, attempted: number): Promise<void> {
  await database.inAccount(account, [
    statement(
      `update idempotency_keys set attempted_at = to_timestamp(0)
       where account_id = $1 and key = $2 and status is null and (extract(epoch from attempted_at) * 1000000)::bigint = $3`,
      [account, key, attempted],
    ),
  ]);
}

/** The revision that one of these requests made. `final`: waits for a writer that may still be at work. */
export async function findRequest(
  database: Database,
  account: string,
  requestIds: readonly string[],
  { final }: { readonly final: boolean },
): Promise<number | undefined> {
  const look = statement<{ readonly revision: number }>(
    'select revision from revisions where account_id = $1 and request_id = any($2) order by revision limit 1',
    [account, requestIds],
  );
  if (!final) return (await database.inAccount(account, [look]))[0][0]?.revision;
  const [, found] = await database.inAccount(account, [lockHead(account), look], { write: true });
  return found[0]?.revision;
}

/** Forgets requests that came more than a day ago. */
export async function forgetRequests(database: Database, account: string): Promise<void> {
  await database.inAccount(account, [
    statement(`delete from idempotency_keys where account_id = $1 and created_at < now() - interval '24 hours'`, [
      account,
    ]),
  ]);
}
