import type { Actor } from '../model/declare/actor.ts';
import { statement } from './builder.ts';
import type { AccountAccess } from './database.ts';

/** Change that a revision made to one object: the units, and the actor. */
export interface ObjectChangeRow {
  readonly revision: number;
  readonly actor: Actor;
  readonly action: string;
  readonly kind: string;
  readonly object_id: string;
  readonly key: string | null;
  readonly name: string;
  /** Paths of the changed units, with ids in their brackets. */
  readonly paths: readonly string[];
}

/**
 * Returns the changes of objects in revisions later than `revision`, newest revision first, at most `limit` of them.
 */
export async function objectChangesAfter(
  database: AccountAccess,
  account: string,
  revision: number,
  limit: number,
): Promise<readonly ObjectChangeRow[]> {
  const [rows] = await database.inAccount(account, [
    statement<ObjectChangeRow>(touchesText, [account, revision, limit]),
  ]);
  return rows;
}

const touchesText = `select c.revision, r.actor, c.action, c.kind, c.object_id, c.key, c.name,
  (select coalesce(jsonb_agg(unit ->> 'path'), '[]') from jsonb_array_elements(c.units) unit) as paths
from changes c join revisions r on r.account_id = c.account_id and r.revision = c.revision
where c.account_id = $1 and c.revision > $2
order by c.revision desc, c.seq
limit $3`;
