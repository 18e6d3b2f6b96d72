import type { JsonObject } from '../lib/json.ts';
import { statement } from './builder.ts';
import type { Database } from './database.ts';

/** What the sources of an account want and could not have; sources that lack nothing are left out. */
export async function listWanted(
  database: Database,
  account: string,
): Promise<readonly { readonly source: string; readonly wanted: JsonObject }[]> {
  const [rows] = await database.inAccount(account, [
    statement<{ readonly source: string; readonly wanted: JsonObject }>(
      `select id as source, wanted from sources where account_id = $1 and wanted <> '{}' order by id`,
      [account],
    ),
  ]);
  return rows;
}

/**
 * Writes what a source wants and could not have; `{}` when it lacks nothing. A source that was never heard of gets a row:
 * until it comes again, this is all that is known of it. It is no part of the account's state and makes no revision.
 */
export async function putWanted(
  database: Database,
  account: string,
  source: string,
  wanted: JsonObject,
  at: string,
): Promise<void> {
  await database.inAccount(account, [statement(wantedText, [account, source, JSON.stringify(wanted), at])]);
}

const wantedText = `insert into sources (account_id, id, type, spec, wanted, created_at)
select $1, $2, 'push', '{}', $3::jsonb, $4::timestamptz
where $3::jsonb <> '{}' or exists (select from sources where account_id = $1 and id = $2)
on conflict (account_id, id) do update set wanted = excluded.wanted where sources.wanted <> excluded.wanted`;
