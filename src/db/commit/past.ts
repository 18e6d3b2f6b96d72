import type { Registry } from '../../model/declare/registry.ts';
import { objectOf } from '../../model/state/members.ts';
import { emptySnapshot, type Snapshot } from '../../model/state/snapshot.ts';
import { build, statement } from '../builder.ts';
import type { Database } from '../database.ts';
import type { ChangeRow } from './history.ts';

/** What is kept of an account's history. */
export interface Kept {
  /** The newest revision. */
  readonly head: number;
  /** The oldest revision whose state can be had; the changes after it are all there. */
  readonly base: number;
  /** States before this revision say nothing about those after it. */
  readonly validFrom: number;
}

const keptText = `select a.revision as head, coalesce(b.revision, 0) as base, coalesce(b.valid_from, 0) as "validFrom"
from accounts a left join history_base b using (account_id) where a.account_id = $1`;

const keptQuery = (account: string) => statement<Kept>(keptText, [account]);

/** How far back the history of an account goes; `undefined` when there is no such account. */
export async function readKept(database: Database, account: string): Promise<Kept | undefined> {
  const [[kept]] = await database.inAccount(account, [keptQuery(account)]);
  return kept;
}

/** The state with which the history of an account begins. */
export async function loadBase(
  database: Database,
  registry: Registry,
  account: string,
): Promise<{ readonly state: Snapshot; readonly kept: Kept } | undefined> {
  const [[kept], rows] = await database.inAccount(
    account,
    [keptQuery(account), build.selectFrom('base_objects').select('image').where('account_id', '=', account).compile()],
    { snapshot: true },
  );
  if (kept === undefined) return undefined;
  const put = rows.map(({ image }) => objectOf(registry, image));
  return { kept, state: emptySnapshot(registry, account, kept.base).with({ put, remove: [] }, kept.base) };
}

/** A place in the history: behind this change. */
export interface HistoryPosition {
  readonly revision: number;
  readonly seq: number;
}

/** The next changes of an account up to a revision, in order, with what is kept of the history at that moment. */
export async function readChanges(
  database: Database,
  account: string,
  { after, until, limit }: { readonly after: HistoryPosition; readonly until: number; readonly limit: number },
): Promise<{ readonly kept: Kept | undefined; readonly rows: readonly (ChangeRow & HistoryPosition)[] }> {
  const [[kept], rows] = await database.inAccount(
    account,
    [
      keptQuery(account),
      statement<ChangeRow & HistoryPosition>(changesText, [account, after.revision, after.seq, until, limit]),
    ],
    { snapshot: true },
  );
  return { kept, rows };
}

const changesText = `select revision, seq, action, object_id, units, image from changes
where account_id = $1 and (revision, seq) > ($2::bigint, $3::bigint) and revision <= $4 order by revision, seq limit $5`;
