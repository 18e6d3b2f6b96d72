import { build, lockHead } from './builder.ts';
import type { Database } from './database.ts';

/** Whether a commit with this request id happened. Waits for a writer that may still be at work, so the answer is final. */
export async function hasRevision(database: Database, account: string, requestId: string): Promise<boolean> {
  const [, found] = await database.inAccount(
    account,
    [
      lockHead(account),
      build
        .selectFrom('revisions')
        .select('revision')
        .where('account_id', '=', account)
        .where('request_id', '=', requestId)
        .compile(),
    ],
    { write: true },
  );
  return found.length > 0;
}

/** The newest revisions, newest first; `before` pages back. */
export async function listRevisions(
  database: Database,
  account: string,
  options: { readonly before?: number; readonly limit: number },
) {
  const query = build
    .selectFrom('revisions')
    .select(['revision', 'created_at', 'actor', 'source_id', 'commit_ref', 'plan_id', 'plan_digest', 'summary'])
    .where('account_id', '=', account)
    .orderBy('revision', 'desc')
    .limit(options.limit);
  const [rows] = await database.inAccount(account, [
    (options.before === undefined ? query : query.where('revision', '<', options.before)).compile(),
  ]);
  return rows;
}

/** One revision with its changes, or `undefined`. */
export async function readRevision(database: Database, account: string, revision: number) {
  const [revisions, changes] = await database.inAccount(account, [
    build
      .selectFrom('revisions')
      .select(['revision', 'created_at', 'actor', 'source_id', 'commit_ref', 'plan_id', 'plan_digest', 'summary'])
      .where('account_id', '=', account)
      .where('revision', '=', revision)
      .compile(),
    build
      .selectFrom('changes')
      .select(['seq', 'action', 'kind', 'object_id', 'key', 'name', 'units', 'image'])
      .where('account_id', '=', account)
      .where('revision', '=', revision)
      .orderBy('seq')
      .compile(),
  ]);
  const [found] = revisions;
  return found === undefined ? undefined : { ...found, changes };
}
