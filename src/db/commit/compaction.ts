import type { Registry } from '../../model/declare/registry.ts';
import { imageOf, type ObjectImage, objectOf } from '../../model/state/members.ts';
import type { StoredObject } from '../../model/state/object.ts';
import { restrictTo, statement } from '../builder.ts';
import type { Database, Run } from '../database.ts';
import { type ChangeRow, type Replayed, replayInto } from './history.ts';

/** How much of the history is kept: so many revisions, and those of so many days, whichever is more. */
export interface Retention {
  readonly revisions: number;
  readonly days: number;
}

/** What is to be folded: the changes of an account up to a revision. */
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

/** The accounts whose history is longer than what is kept. */
export async function foldTargets(database: Database, { revisions, days }: Retention): Promise<readonly FoldTarget[]> {
  return database.lookUp(statement<FoldTarget>(targetsText, [revisions, days]));
}

/** How many changes one step folds; a longer revision is folded as a whole. */
const step = 500;

/**
 * Folds some of the oldest changes into the base image, in one transaction that holds nothing a writer waits for. Answers
 * how many changes went; none when the target is reached, or when another server is at it.
 */
export async function foldStep(database: Database, registry: Registry, target: FoldTarget): Promise<number> {
  let folded = 0;
  const work = async (run: Run) => {
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
  if (folded > 0) database.wrote(folded);
  return folded;
}

async function fold(run: Run, registry: Registry, { account, revision }: FoldTarget, base: number): Promise<number> {
  const { rows, until } = await oldestChanges(run, account, base, revision);
  const images = await run<{ readonly object_id: string; readonly image: ObjectImage }>(
    'select object_id, image from base_objects where account_id = $1 and object_id = any($2::text[])',
    [account, [...new Set(rows.map((row) => row.object_id))]],
  );
  const before = new Map(images.map((row) => [row.object_id, objectOf(registry, row.image)]));
  const objects: Replayed = new Map();
  replayInto(objects, { registry, get: (id) => before.get(id) }, rows);
  await writeImages(run, account, objects);
  await run('delete from changes where account_id = $1 and revision > $2 and revision <= $3', [account, base, until]);
  await run('delete from revisions where account_id = $1 and revision > $2 and revision <= $3', [account, base, until]);
  await run('update history_base set revision = $2 where account_id = $1', [account, until]);
  // Revisions without changes are folded too, and then there is more to do.
  return Math.max(rows.length, 1);
}

const changesText = `select revision, seq, action, object_id, units, image from changes
where account_id = $1 and revision > $2 and revision <= $3 order by revision, seq limit $4`;

/** The changes of the next whole revisions, and the last of these. */
async function oldestChanges(
  run: Run,
  account: string,
  base: number,
  target: number,
): Promise<{ readonly rows: readonly ChangeRow[]; readonly until: number }> {
  const rows = await run<ChangeRow>(changesText, [account, base, target, step + 1]);
  const last = rows.at(-1);
  if (last === undefined || rows.length <= step) return { rows, until: target };
  const whole = rows.filter((row) => row.revision < last.revision);
  if (whole.length > 0) return { rows: whole, until: last.revision - 1 };
  return { rows: await run<ChangeRow>(changesText, [account, base, last.revision, null]), until: last.revision };
}

/** How many images one statement carries. */
const imagesAtOnce = 2000;

async function writeImages(
  run: Run,
  account: string,
  objects: ReadonlyMap<string, StoredObject | undefined>,
): Promise<void> {
  const gone = [...objects].filter(([, object]) => object === undefined).map(([id]) => id);
  if (gone.length > 0)
    await run('delete from base_objects where account_id = $1 and object_id = any($2::text[])', [account, gone]);
  const put = [...objects.values()].filter((object) => object !== undefined);
  for (let at = 0; at < put.length; at += imagesAtOnce)
    await putBaseObjects(run, account, put.slice(at, at + imagesAtOnce));
}

/** Writes images of objects into the base. */
export async function putBaseObjects(run: Run, account: string, objects: readonly StoredObject[]): Promise<void> {
  const images = objects.map((object) => ({ id: object.id, image: imageOf(object) }));
  await run(
    `insert into base_objects (account_id, object_id, image)
     select $1, x.id, x.image from json_to_recordset($2::json) as x(id text, image jsonb)
     on conflict (account_id, object_id) do update set image = excluded.image`,
    [account, JSON.stringify(images)],
  );
}
