import type { Registry } from '../../model/declare/registry.ts';
import { imageOf, type ObjectImage, objectFromImage } from '../../model/state/members.ts';
import type { StoredObject } from '../../model/state/object.ts';
import { restrictTo, statement } from '../builder.ts';
import type { Database, RunSql } from '../database.ts';
import { type ChangeRow, type ReplayedObjects, replayInto } from './history.ts';

/**
 * Amount of history to keep: the last `revisions` revisions, or the revisions of the last `days` days, whichever is
 * more.
 */
export interface Retention {
  readonly revisions: number;
  readonly days: number;
}

/** History to fold: the changes of an account up to this revision. */
export interface FoldTarget {
  readonly account: string;
  readonly revision: number;
}

const targetsText = `select * from (
  select a.account_id as account, least(
    a.revision - $1,
    (select min(r.revision) - 1 from revisions r
     where r.account_id = a.account_id and r.created_at >= now() - $2::int * interval '1 day')
  ) as revision, coalesce(b.revision, 0) as base
  from accounts a left join history_base b using (account_id)
  where a.revision - coalesce(b.revision, 0) > $1
) t where revision > base order by account`;

/** Returns the accounts whose history is longer than the retention allows. */
export async function foldTargets(database: Database, { revisions, days }: Retention): Promise<readonly FoldTarget[]> {
  return database.lookUp(statement<FoldTarget>(targetsText, [revisions, days]));
}

/** Maximum number of changes that one step folds. A longer revision is folded as a whole. */
const changesPerStep = 500;

/**
 * Folds some of the oldest changes into the base image, in one transaction that takes no lock that a writer waits for.
 * Returns the number of folded changes, or 0 when the target is reached or another server is folding.
 */
export async function foldStep(database: Database, registry: Registry, target: FoldTarget): Promise<number> {
  let folded = 0;
  const work = async (run: RunSql) => {
    folded = 0;
    const restriction = restrictTo(target.account, { write: true });
    await run(restriction.sql, restriction.parameters);
    await run('insert into history_base (account_id, revision) values ($1, 0) on conflict do nothing', [
      target.account,
    ]);
    const [base] = await run('select revision from history_base where account_id = $1 for update skip locked', [
      target.account,
    ]);
    if (base === undefined || Number(base['revision']) >= target.revision) return;
    folded = await fold(run, registry, target, Number(base['revision']));
  };
  await database.asOwner(work, { write: 'short' });
  if (folded > 0) database.countWrittenRows(folded);
  return folded;
}

async function fold(run: RunSql, registry: Registry, { account, revision }: FoldTarget, base: number): Promise<number> {
  const { rows, until } = await oldestChanges(run, account, base, revision);
  const images = await run<{ readonly object_id: string; readonly image: ObjectImage }>(
    'select object_id, image from base_objects where account_id = $1 and object_id = any($2::text[])',
    [account, [...new Set(rows.map((row) => row.object_id))]],
  );
  const before = new Map(images.map((row) => [row.object_id, objectFromImage(registry, row.image)]));
  const objects: ReplayedObjects = new Map();
  replayInto(objects, { registry, get: (id) => before.get(id) }, rows);
  await writeImages(run, account, objects);
  await run('delete from changes where account_id = $1 and revision > $2 and revision <= $3', [account, base, until]);
  await run('delete from revisions where account_id = $1 and revision > $2 and revision <= $3', [account, base, until]);
  await run('update history_base set revision = $2 where account_id = $1', [account, until]);
  // Folding revisions without changes counts as 1, because more revisions may follow.
  return Math.max(rows.length, 1);
}

const changesText = `select revision, seq, action, object_id, units, image from changes
where account_id = $1 and revision > $2 and revision <= $3 order by revision, seq limit $4`;

/** Returns the changes of the next whole revisions, and the last of these revisions. */
async function oldestChanges(
  run: RunSql,
  account: string,
  base: number,
  target: number,
): Promise<{ readonly rows: readonly ChangeRow[]; readonly until: number }> {
  const rows = await run<ChangeRow>(changesText, [account, base, target, changesPerStep + 1]);
  const last = rows.at(-1);
  if (last === undefined || rows.length <= changesPerStep) return { rows, until: target };
  const whole = rows.filter((row) => row.revision < last.revision);
  if (whole.length > 0) return { rows: whole, until: last.revision - 1 };
  return { rows: await run<ChangeRow>(changesText, [account, base, last.revision, null]), until: last.revision };
}

/** Maximum number of images per statement. */
const imagesPerStatement = 2000;

async function writeImages(
  run: RunSql,
  account: string,
  objects: ReadonlyMap<string, StoredObject | undefined>,
): Promise<void> {
  const gone = [...objects].filter(([, object]) => object === undefined).map(([id]) => id);
  if (gone.length > 0)
    await run('delete from base_objects where account_id = $1 and object_id = any($2::text[])', [account, gone]);
  const put = [...objects.values()].filter((object) => object !== undefined);
  for (let at = 0; at < put.length; at += imagesPerStatement)
    await putBaseObjects(run, account, put.slice(at, at + imagesPerStatement));
}

/** Writes images of objects into the base image of the history. */
export async function putBaseObjects(run: RunSql, account: string, objects: readonly StoredObject[]): Promise<void> {
  const images = objects.map((object) => ({ id: object.id, image: imageOf(object) }));
  await run(
    `insert into base_objects (account_id, object_id, image)
     select $1, x.id, x.image from json_to_recordset($2::json) as x(id text, image jsonb)
     on conflict (account_id, object_id) do update set image = excluded.image`,
    [account, JSON.stringify(images)],
  );
}
