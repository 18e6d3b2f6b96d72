import { sql } from 'kysely';
import { queryBuilder, statement } from '../builder.ts';
import type { Database } from '../database.ts';

/**
 * Result of a commit whose response was lost: it was written, it never will be (`gone`: because the account was
 * deleted), or it may still be written.
 */
export type CommitOutcome = 'written' | 'never' | 'gone' | 'open';

/**
 * Identifies a commit: the revision on which it was planned, its request, and the time when it was planned (ISO 8601).
 */
export interface CommitIdentity {
  readonly account: string;
  readonly base: number;
  readonly requestId: string;
  readonly at: string;
}

/**
 * Returns the result of a commit. A commit advances the head row only from the revision on which it was planned, so the
 * answer is final once the account is at a later revision. Before that, a statement that was sent may still be
 * executed. After a failover, the server that answers may also be a standby that has not replayed the commit yet, or
 * not even the account: what it does not contain may have been written.
 */
export async function readCommitOutcome(
  database: Database,
  { account, base, requestId, at }: CommitIdentity,
): Promise<CommitOutcome> {
  const [[found]] = await database.inAccount(account, [statement<FoundCommit>(outcomeText, [account, requestId, at])]);
  const { revision = null, written = false, standby = false } = found ?? {};
  if (written) return 'written';
  // An account at revision 0 may not exist yet. Any other account that the primary does not contain was deleted.
  if (revision === null) return base === 0 || standby ? 'open' : 'gone';
  return revision <= base ? 'open' : 'never';
}

interface FoundCommit {
  /** Revision of the account. Null when the account does not exist. */
  readonly revision: number | null;
  readonly written: boolean;
  /** Whether the server that answers is a standby. */
  readonly standby: boolean;
}

// The time distinguishes the commit from a commit that an earlier process made for the same request.
const outcomeText = `select a.revision, s.standby, exists (
  select from revisions r where r.account_id = a.account_id and r.request_id = $2 and r.created_at = $3::timestamptz
) as written from (select pg_is_in_recovery() as standby) s left join accounts a on a.account_id = $1`;

/** Filter for revisions. An absent member does not filter. */
export interface RevisionFilter {
  readonly before?: number;
  readonly limit: number;
  readonly source?: string;
  /** Attempt or HTTP request that made the revision. */
  readonly request?: string;
  /** Id, name or e-mail address of the actor. */
  readonly actor?: string;
  /** Only revisions that changed an object of this kind. */
  readonly kind?: string;
  /** Only revisions that changed one of these objects. */
  readonly objects?: readonly string[];
  readonly since?: Date;
  readonly until?: Date;
}

const columns = [
  ...(['revision', 'created_at', 'actor', 'source_id', 'commit_ref', 'plan_id', 'plan_digest'] as const),
  ...(['request_id', 'http_request', 'summary'] as const),
] as const;

/** Returns the revisions that match the filter, newest first. `before` selects the next page. */
export async function listRevisions(database: Database, account: string, filter: RevisionFilter) {
  const { before, limit, source, request, actor, kind, objects, since, until } = filter;
  let query = queryBuilder
    .selectFrom('revisions as r')
    .select(columns)
    .where('account_id', '=', account)
    .orderBy('revision', 'desc')
    .limit(limit);
  if (before !== undefined) query = query.where('revision', '<', before);
  if (source !== undefined) query = query.where('source_id', '=', source);
  if (request !== undefined)
    query = query.where(({ or, eb }) => or([eb('request_id', '=', request), eb('http_request', '=', request)]));
  if (actor !== undefined)
    query = query.where(sql<boolean>`${actor} in (actor ->> 'id', actor ->> 'name', actor ->> 'email')`);
  if (since !== undefined) query = query.where('created_at', '>=', since);
  if (until !== undefined) query = query.where('created_at', '<', until);
  if (objects !== undefined)
    query = query.where('revision', 'in', (changed) =>
      changed
        .selectFrom('changes')
        .select('revision')
        .where('account_id', '=', account)
        .where('object_id', 'in', objects.length === 0 ? [''] : [...objects]),
    );
  if (kind !== undefined)
    query = query.where(({ exists, selectFrom }) =>
      exists(
        selectFrom('changes as c')
          .select('c.revision')
          .where('c.account_id', '=', account)
          .whereRef('c.revision', '=', 'r.revision')
          .where('c.kind', '=', kind),
      ),
    );
  const [rows] = await database.inAccount(account, [query.compile()]);
  return rows;
}

/** Returns the ids of all objects that had this kind and key, as far back as the history is stored. At most 1000. */
export async function idsOfKey(
  database: Database,
  account: string,
  kind: string,
  key: string,
): Promise<readonly string[]> {
  const [rows] = await database.inAccount(account, [
    statement<{ readonly object_id: string }>(
      'select distinct object_id from changes where account_id = $1 and kind = $2 and key = $3 order by object_id limit 1000',
      [account, kind, key],
    ),
  ]);
  return rows.map((row) => row.object_id);
}

const changeColumns = ['revision', 'seq', 'action', 'kind', 'object_id', 'key', 'name', 'units', 'image'] as const;

/** Returns the changes of these objects in these revisions, in order. */
export async function readChangesOf(
  database: Database,
  account: string,
  { revisions, objects }: { readonly revisions: readonly number[]; readonly objects: readonly string[] },
) {
  if (revisions.length === 0 || objects.length === 0) return [];
  const [rows] = await database.inAccount(account, [
    queryBuilder
      .selectFrom('changes')
      .select(changeColumns)
      .where('account_id', '=', account)
      .where('object_id', 'in', [...objects])
      .where('revision', 'in', [...revisions])
      .orderBy('revision')
      .orderBy('seq')
      .compile(),
  ]);
  return rows;
}

/** Returns a revision with its changes, or `undefined` when it is not stored. */
export async function readRevision(database: Database, account: string, revision: number) {
  const [revisions, changes] = await database.inAccount(account, [
    queryBuilder
      .selectFrom('revisions')
      .select(columns)
      .where('account_id', '=', account)
      .where('revision', '=', revision)
      .compile(),
    queryBuilder
      .selectFrom('changes')
      .select(changeColumns)
      .where('account_id', '=', account)
      .where('revision', '=', revision)
      .orderBy('seq')
      .compile(),
  ]);
  const [found] = revisions;
  return found === undefined ? undefined : { ...found, changes };
}

/** Returns the last key of each object, or its last name if it has no key, by id, as far as the history contains it. */
export async function readNames(
  database: Database,
  account: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const [rows] = await database.inAccount(account, [
    statement<{ readonly object_id: string; readonly label: string }>(
      `select distinct on (object_id) object_id, coalesce(key, name) as label from changes
       where account_id = $1 and object_id = any($2::text[]) order by object_id, revision desc`,
      [account, ids],
    ),
  ]);
  return new Map(rows.filter(({ label }) => label !== '').map((row) => [row.object_id, row.label]));
}
