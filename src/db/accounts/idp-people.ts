import { statement } from '../builder.ts';
import type { Database } from '../database.ts';

/** Kind of the directory entries that map user ids to accounts. An entry is written when the user signs in. */
const subjectEntryKind = 'user';

/** Account of a person who signed in. */
export interface SubjectAccount {
  readonly account: string;
  /** Current revision of the account. */
  readonly revision: number;
  /** Whether the person followed a link that was mailed to their address. */
  readonly proved: boolean;
}

/** Returns the account of a person who has signed in, or `undefined` when no person with this id has signed in. */
export async function findSubjectAccount(database: Database, user: string): Promise<SubjectAccount | undefined> {
  const text = `select a.account_id as account, a.revision, exists (
      select from credentials c where c.account_id = d.account_id and c.user_id = d.value and c.proved_user = d.value
    ) as proved from directory d join accounts a on a.account_id = d.account_id
    where d.kind = '${subjectEntryKind}' and d.value = $1`;
  const [row] = await database.lookUp(statement<SubjectAccount>(text, [user]));
  return row;
}

/** Writes the directory entry that maps a user id to its account. */
export async function insertSubjectEntry(database: Database, account: string, user: string): Promise<void> {
  const text = `insert into directory (account_id, kind, value, subject_id) values ($1, '${subjectEntryKind}', $2, $2)
    on conflict do nothing`;
  await database.inAccount(account, [statement(text, [account, user])]);
}
