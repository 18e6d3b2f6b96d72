import type { Registry } from '../../model/declare/registry.ts';
import { objectFromImage } from '../../model/state/members.ts';
import { emptySnapshot, type Snapshot } from '../../model/state/snapshot.ts';
import { queryBuilder, statement } from '../builder.ts';
import type { Database } from '../database.ts';
import type { ChangeRow } from './history.ts';

/** Extent of the stored history of an account. */
export interface HistoryExtent {
  /** Newest revision. */
  readonly head: number;
  /** Oldest revision whose state can be rebuilt. All changes after it are stored. */
  readonly base: number;
  /**
   * A snapshot from before this revision cannot be brought up to a later state, because stored objects were also
   * changed outside the history, as by a restore.
   */
  readonly validFrom: number;
}

const extentText = `select a.revision as head, coalesce(b.revision, 0) as base, coalesce(b.valid_from, 0) as "validFrom"
from accounts a left join history_base b using (account_id) where a.account_id = $1`;

const extentQuery = (account: string) => statement<HistoryExtent>(extentText, [account]);

/** Returns the extent of the stored history of an account, or `undefined` when the account does not exist. */
export async function readHistoryExtent(database: Database, account: string): Promise<HistoryExtent | undefined> {
  const [[kept]] = await database.inAccount(account, [extentQuery(account)]);
  return kept;
}

/** Returns the state at which the history of an account begins, or `undefined` when the account does not exist. */
export async function loadBase(
  database: Database,
  registry: Registry,
  account: string,
): Promise<{ readonly state: Snapshot; readonly kept: HistoryExtent } | undefined> {
  const [[kept], rows] = await database.inAccount(
    account,
    [
      extentQuery(account),
      queryBuilder.selectFrom('base_objects').select('image').where('account_id', '=', account).compile(),
    ],
    { snapshot: true },
  );
  if (kept === undefined) return undefined;
  const put = rows.map(({ image }) => objectFromImage(registry, image));
  return { kept, state: emptySnapshot(registry, account, kept.base).with({ put, remove: [] }, kept.base) };
}

/** Position in the history: after this change. */
export interface HistoryPosition {
  readonly revision: number;
  readonly seq: number;
}

/**
 * Returns the next changes of an account up to a revision, in order, and the extent of the history in the same
 * snapshot.
 */
export async function readChanges(
  database: Database,
  account: string,
  { after, until, limit }: { readonly after: HistoryPosition; readonly until: number; readonly limit: number },
): Promise<{ readonly kept: HistoryExtent | undefined; readonly rows: readonly (ChangeRow & HistoryPosition)[] }> {
  const [[kept], rows] = await database.inAccount(
    account,
    [
      extentQuery(account),
      statement<ChangeRow & HistoryPosition>(changesText, [account, after.revision, after.seq, until, limit]),
    ],
    { snapshot: true },
  );
  return { kept, rows };
}

const changesText = `select revision, seq, action, object_id, units, image from changes
where account_id = $1 and (revision, seq) > ($2::bigint, $3::bigint) and revision <= $4 order by revision, seq limit $5`;
