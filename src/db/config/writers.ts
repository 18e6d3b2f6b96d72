import type { JsonObject } from '../../lib/json.ts';
import { statement } from '../builder.ts';
import type { Database } from '../database.ts';

/** Identifies a unit: the id of its object and its path. */
export interface UnitRef {
  readonly object: string;
  readonly path: string;
}

/** Actor who gave a unit its current value, and the time. */
export interface UnitWriter extends UnitRef {
  readonly actor: JsonObject;
  readonly at: Date;
}

/**
 * Returns the last writer of each of these units, as far back as the history is stored. Leaves out units whose writer
 * the history does not contain.
 */
export async function findWriters(
  database: Database,
  account: string,
  units: readonly UnitRef[],
): Promise<readonly UnitWriter[]> {
  const [objects, paths] = [units.map(({ object }) => object), units.map(({ path }) => path)];
  const [rows] = await database.inAccount(account, [statement<UnitWriter>(writersText, [account, objects, paths])]);
  return rows;
}

/** Uses the index of `changes` on objects. The creation of an object counts as a write of all its units. */
const writersText = `select x.object, x.path, r.actor, r.created_at as at
from unnest($2::text[], $3::text[]) as x(object, path)
cross join lateral (
  select c.revision from changes c
  where c.account_id = $1 and c.object_id = x.object
    and (c.action = 'create' or c.units @> jsonb_build_array(jsonb_build_object('path', x.path)))
  order by c.revision desc limit 1
) c
join revisions r on r.account_id = $1 and r.revision = c.revision`;
