import { statement } from '../builder.ts';
import type { Database } from '../database.ts';

/** The entries of the directory by which the ids of people lead to their accounts; written when they sign in. */
const subjectEntry = 'user';

/** Where a person is. */
export interface Subject {
  readonly account: string;
  /** The account's revision at this moment. */
  readonly revision: number;
  /** They followed a link that was mailed to their address. */
  readonly proved: boolean;
}

/** The account of a signed-in person; `undefined` when no person with this id signed in. */
export async function findSubject(database: Database, user: string): Promise<Subject | undefined> {
  const text = `select a.account_id as account, a.revision, exists (
      select from credentials c where c.account_id = d.account_id and c.user_id = d.value and c.proved_user = d.value
    ) as proved from directory d join accounts a on a.account_id = d.account_id
    where d.kind = '${subjectEntry}' and d.value = $1`;
  const [row] = await database.lookUp(statement<Subject>(text, [user]));
  return row;
}

/** Lets the id of a person lead to their account. */
export async function enterSubject(database: Database, account: string, user: string): Promise<void> {
  const text = `insert into directory (account_id, kind, value, subject_id) values ($1, '${subjectEntry}', $2, $2)
    on conflict do nothing`;
  await database.inAccount(account, [statement(text, [account, user])]);
}
