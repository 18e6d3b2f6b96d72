import { sql } from 'kysely';
import type { JsonObject } from '../../lib/json.ts';
import type { Actor } from '../../model/declare/actor.ts';
import { queryBuilder, statement } from '../builder.ts';
import type { AccountAccess, Database } from '../database.ts';
import type { Lease } from '../leases/leases.ts';
import { toRepetitionConflict } from '../repeated-requests.ts';

/** A source as it is stored. */
export interface SourceRecord {
  readonly id: string;
  readonly type: string;
  readonly spec: JsonObject;
  readonly status: JsonObject;
  /** Whether a request to the API suspended the source. The setting in its Kubernetes resource is part of `spec`. */
  readonly suspended: boolean;
  /** Number of changes of `spec` or `suspended`. */
  readonly generation: number;
  /** The newest request to reconcile that was handled. */
  readonly handled_at: Date | null;
}

const recordColumns = ['id', 'type', 'spec', 'status', 'suspended', 'generation', 'handled_at'] as const;

/** Returns all sources of an account, sorted by id. */
export async function listSources(database: Database, account: string): Promise<readonly SourceRecord[]> {
  const [rows] = await database.inAccount(account, [
    queryBuilder
      .selectFrom('sources')
      .select([...recordColumns])
      .where('account_id', '=', account)
      .orderBy('id')
      .compile(),
  ]);
  return rows;
}

/** Returns sources of an account by their ids. Leaves out ids that do not exist. */
export async function findSources(
  database: Database,
  account: string,
  ids: readonly string[],
): Promise<readonly SourceRecord[]> {
  const [rows] = await database.inAccount(account, [
    queryBuilder
      .selectFrom('sources')
      .select([...recordColumns])
      .where('account_id', '=', account)
      .where('id', '=', sql<string>`any(${[...ids]}::text[])`)
      .compile(),
  ]);
  return rows;
}

/** Actor, time and request of a change of a source. */
export interface SourceChangeContext {
  readonly actor: Actor;
  /** ISO 8601. */
  readonly at: string;
  readonly requestId: string;
}

/**
 * Creates or updates a source. The way in which documents are applied is part of the account's state, so a change makes
 * a revision. Writes nothing when the source is unchanged, or when the account is deleted. Returns the revision, if
 * there is one.
 */
export async function registerSource(
  database: Database,
  account: string,
  { id, type, spec }: Pick<SourceRecord, 'id' | 'type' | 'spec'>,
  registration: SourceChangeContext,
): Promise<number | undefined> {
  return changeWithRevision(database, account, registration, registerText, [id, type, JSON.stringify(spec)]);
}

/**
 * Suspends or resumes the reconcile loop of a source. Returns the revision; `undefined` when the source was in that
 * state already.
 */
export async function setSuspended(
  database: Database,
  account: string,
  { id, suspended }: { readonly id: string; readonly suspended: boolean },
  registration: SourceChangeContext,
): Promise<number | undefined> {
  return changeWithRevision(database, account, registration, suspendText, [id, suspended]);
}

/**
 * Records that a source agrees with the state that a rollback restored. Returns the revision; `undefined` when that was
 * recorded already.
 */
export async function clearRollbackMark(
  database: Database,
  account: string,
  id: string,
  registration: SourceChangeContext,
): Promise<number | undefined> {
  return changeWithRevision(database, account, registration, clearRollbackText, [id]);
}

/**
 * Deletes a source, whose declarations must be released before. Returns the revision; `undefined` when there is no such
 * source.
 */
export async function removeSource(
  database: Database,
  account: string,
  id: string,
  registration: SourceChangeContext,
): Promise<number | undefined> {
  return changeWithRevision(database, account, registration, removeText, [id]);
}

/**
 * Runs a change of `sources` and writes its revision, both only if the `head` clause returns a row. In `clauses`, $1 is
 * the account, $2 the time, and the parameters begin at $5.
 */
async function changeWithRevision(
  database: Database,
  account: string,
  { actor, at, requestId }: SourceChangeContext,
  clauses: string,
  parameters: readonly [id: string, ...unknown[]],
): Promise<number | undefined> {
  const common = [account, at, JSON.stringify(actor), requestId];
  const text = `${clauses}
insert into revisions (account_id, revision, created_at, actor, source_id, request_id, summary)
select $1, head.revision, $2::timestamptz, $3::jsonb, $5, $4, '{"sources": 1}' from head
returning revision`;
  const query = statement<{ readonly revision: number }>(text, [...common, ...parameters]);
  const [written] = await database
    .inAccount(account, [query], { write: true })
    .catch((error) => Promise.reject(toRepetitionConflict(error)));
  return written[0]?.revision;
}

// The directory entry is also created for sources that an earlier program registered without an entry.
const registerText = `with found as (
  insert into directory (account_id, kind, value, subject_id)
  select account_id, 'source', account_id || '/' || $5, $5 from accounts where account_id = $1
  on conflict do nothing
), head as (
  update accounts set revision = revision + 1
  where account_id = $1
    and not exists (select from sources where account_id = $1 and id = $5 and type = $6 and spec = $7::jsonb)
  returning revision
), put as (
  insert into sources (account_id, id, type, spec, created_at)
  select $1, $5, $6, $7::jsonb, $2::timestamptz from head
  on conflict (account_id, id) do update
    set type = excluded.type, spec = excluded.spec, generation = sources.generation + 1
)`;

const suspendText = `with head as (
  update accounts set revision = revision + 1
  where account_id = $1 and exists (select from sources where account_id = $1 and id = $5 and suspended <> $6::boolean)
  returning revision
), put as (
  update sources set suspended = $6::boolean, generation = generation + 1
  from head where account_id = $1 and id = $5
)`;

const clearRollbackText = `with head as (
  update accounts set revision = revision + 1
  where account_id = $1 and exists (select from sources where account_id = $1 and id = $5 and rolled_back is not null)
  returning revision
), put as (
  update sources set rolled_back = null from head where account_id = $1 and id = $5
)`;

const removeText = `with head as (
  update accounts set revision = revision + 1
  where account_id = $1 and exists (select from sources where account_id = $1 and id = $5)
  returning revision
), gone as (
  delete from sources using head where account_id = $1 and id = $5
), lost as (
  delete from directory using head where account_id = $1 and kind = 'source' and value = $1 || '/' || $5
), free as (
  delete from leases using head where account_id = $1 and name = 'source/' || $5
)`;

/**
 * Writes the status of a registered source. Writes nothing when the status is unchanged, or when the server has lost
 * the lease. Returns whether it wrote.
 */
export async function putStatus(
  database: AccountAccess,
  account: string,
  id: string,
  status: JsonObject,
  lease?: Lease,
): Promise<boolean> {
  const held = lease === undefined ? '' : unlessLeaseLost;
  const fence = lease === undefined ? [] : [lease.name, lease.fence];
  const [rows] = await database.inAccount(account, [
    statement<{ readonly id: string }>(`${statusText}${held} returning id`, [
      ...[account, id, JSON.stringify(status)],
      ...fence,
    ]),
  ]);
  return rows.length === 1;
}

const statusText =
  'update sources set status = $3::jsonb where account_id = $1 and id = $2 and status is distinct from $3::jsonb';
const unlessLeaseLost =
  ' and exists (select from leases where account_id = $1 and name = $4 and fence = $5 and until > clock_timestamp())';
