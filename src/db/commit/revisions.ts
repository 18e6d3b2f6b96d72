import { sql } from 'kysely';
import { build, statement } from '../builder.ts';
import type { Database } from '../database.ts';

/** What became of a commit: it happened, it never will (also because the account is gone), or it may still happen. */
export type CommitOutcome = 'written' | 'never' | 'gone' | 'open';

/** By what a commit is recognised: the revision on which it was planned, its request, and when it was planned (ISO 8601). */
export interface CommitMark {
  readonly account: string;
  readonly base: number;
  readonly requestId: string;
  readonly at: string;
}

/**
 * What became of a commit. It advances the head row from the revision on which it was planned and from no other, so the
 * history is final once the account has moved on; before that, a statement on its way may still be executed.
 */
export async function readCommitOutcome(
  database: Database,
  { account, base, requestId, at }: CommitMark,
): Promise<CommitOutcome> {
  const [[found]] = await database.inAccount(account, [
    statement<{ readonly revision: number; readonly written: boolean }>(outcomeText, [account, requestId, at]),
  ]);
  // An account at revision 0 may not be there yet; any other that is missing is gone.
  if (found === undefined) return base === 0 ? 'open' : 'gone';
  if (found.written) return 'written';
  return found.revision === base ? 'open' : 'never';
}

// The time distinguishes a commit from one that an earlier process made for the same request.
const outcomeText = `select revision, exists (
  select from revisions r where r.account_id = a.account_id and r.request_id = $2 and r.created_at = $3::timestamptz
) as written from accounts a where account_id = $1`;

/** Which revisions to list; what is absent does not matter. */
export interface RevisionFilter {
  readonly before?: number;
  readonly limit: number;
  readonly source?: string;
  /** The attempt or the HTTP request that made it. */
  readonly request?: string;
  /** The id, name or e-mail address of who made it. */
  readonly actor?: string;
  /** Some object of this kind changed. */
  readonly kind?: string;
  /** One of these objects changed. */
  readonly objects?: readonly string[];
  readonly since?: Date;
  readonly until?: Date;
}

const columns = [
  ...(['revision', 'created_at', 'actor', 'source_id', 'commit_ref', 'plan_id', 'plan_digest'] as const),
  ...(['request_id', 'http_request', 'summary'] as const),
] as const;

/** The newest revisions that fit, newest first; `before` pages back. */
export async function listRevisions(database: Database, account: string, filter: RevisionFilter) {
  const { before, limit, source, request, actor, kind, objects, since, until } = filter;
  let query = build
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

/** The ids that objects of a kind and key ever had, as far back as the history is kept. */
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

/** The changes of some objects in some revisions, in order. */
export async function readChangesOf(
  database: Database,
  account: string,
  { revisions, objects }: { readonly revisions: readonly number[]; readonly objects: readonly string[] },
) {
  if (revisions.length === 0 || objects.length === 0) return [];
  const [rows] = await database.inAccount(account, [
    build
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

/** One revision with its changes, or `undefined`. */
export async function readRevision(database: Database, account: string, revision: number) {
  const [revisions, changes] = await database.inAccount(account, [
    build
      .selectFrom('revisions')
      .select(columns)
      .where('account_id', '=', account)
      .where('revision', '=', revision)
      .compile(),
    build
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

/** The last names of objects, by id, as far as the history contains them. */
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
