import type { CompiledQuery } from 'kysely';
import { runToEnd } from '../../lib/steps.ts';
import { insertIdentity, type NewIdentity } from '../accounts/identities.ts';
import { restrictTo } from '../builder.ts';
import type { Database, RunSql } from '../database.ts';
import { toRepetitionConflict } from '../repeated-requests.ts';
import { deleteAccountRows } from './account-rows.ts';
import { type CommitInput, compileCommit, refusalIn } from './commit.ts';

/** An entry of the directory, the table by which accounts are found. */
export interface DirectoryEntry {
  readonly account: string;
  readonly kind: string;
  readonly value: string;
  readonly subject: string;
  /** True: the entry is skipped when another account has the value. Absent: the whole transaction is refused. */
  readonly skipIfTaken?: true;
}

/**
 * A statement that is written in the same transaction as plans, such as one that stores a password, which is not part
 * of an object.
 */
export interface ExtraWrite {
  readonly account: string;
  readonly statement: CompiledQuery<unknown>;
  /**
   * True: when the statement returns no row, nothing is written, because another request has used up what the statement
   * needs.
   */
  readonly mustReturnRow?: true;
}

/** Plans of several accounts to write together. Accounts at revision 0 may be new. */
export interface TogetherInput {
  readonly inputs: readonly CommitInput[];
  /** Accounts to create, with their creation time. */
  readonly newAccounts: readonly { readonly account: string; readonly at: string }[];
  readonly entries: readonly DirectoryEntry[];
  readonly identities: readonly NewIdentity[];
  readonly extraWrites: readonly ExtraWrite[];
  /** Accounts to delete with all their rows, if they are still at these revisions. */
  readonly deletedAccounts: readonly { readonly account: string; readonly revision: number }[];
  /** Contender that writes, as for `compileCommit`. */
  readonly contender?: string;
}

/**
 * Result of `commitTogether`. `moved`: the revision of an account changed. `turn`: it is the turn of another contender.
 * `taken`: another account has a value of the directory. `spent`: another request used up what an extra write needs.
 */
export type TogetherResult = 'written' | 'moved' | 'turn' | 'taken' | 'spent';

/** Rolls the transaction back. */
class Abandoned extends Error {
  readonly result: TogetherResult;

  constructor(result: TogetherResult) {
    super(result);
    this.result = result;
  }
}

/**
 * Writes plans of several accounts in one transaction, or nothing when the revision of one of the accounts has changed.
 * Head rows are locked in the order of their ids, so that two of these transactions never deadlock.
 */
export async function commitTogether(database: Database, input: TogetherInput): Promise<TogetherResult> {
  const inputs = [...input.inputs].sort((a, b) => (a.base.account < b.base.account ? -1 : 1));
  let rows = 0;
  try {
    const work = async (run: RunSql) => {
      rows = 0;
      if (input.deletedAccounts.length > 0) await lockAll(run, input);
      for (const one of inputs) rows += await writeAccount(run, input, one);
      for (const entry of input.entries) await writeEntry(run, entry);
      for (const identity of input.identities) await writeIdentity(run, identity);
      for (const extra of input.extraWrites) await writeExtra(run, extra);
      for (const { account, revision } of input.deletedAccounts)
        if (!(await deleteAccountRows(run, account, revision))) throw new Abandoned('moved');
    };
    await database.asOwner(work, { write: input.deletedAccounts.length > 0 ? 'long' : 'short' });
  } catch (error) {
    if (error instanceof Abandoned) return error.result;
    throw toRepetitionConflict(error);
  }
  database.countWrittenRows(rows);
  return 'written';
}

async function writeAccount(
  run: RunSql,
  { newAccounts, contender }: TogetherInput,
  input: CommitInput,
): Promise<number> {
  const { account } = input.base;
  const restriction = restrictTo(account, { write: true });
  await run(restriction.sql, restriction.parameters);
  const found = newAccounts.find((one) => one.account === account);
  if (found !== undefined)
    await run('insert into accounts (account_id, created_at) values ($1, $2)', [account, found.at]);
  const { statement, rows } = runToEnd(compileCommit(input, contender));
  const refusal = refusalIn(await run(statement.sql, statement.parameters));
  if (refusal !== undefined) throw new Abandoned(refusal);
  return rows;
}

/** Locks the head rows of all accounts, including the accounts to delete, in the order of their ids. */
async function lockAll(run: RunSql, { inputs, deletedAccounts }: TogetherInput): Promise<void> {
  const accounts = [...inputs.map(({ base }) => base.account), ...deletedAccounts.map(({ account }) => account)];
  await run('select from accounts where account_id = any($1::text[]) order by account_id for update', [accounts]);
}

async function writeIdentity(run: RunSql, identity: NewIdentity): Promise<void> {
  const restriction = restrictTo(identity.account, { write: true });
  await run(restriction.sql, restriction.parameters);
  if (!(await insertIdentity(run, identity))) throw new Abandoned('taken');
}

async function writeExtra(run: RunSql, { account, statement, mustReturnRow }: ExtraWrite): Promise<void> {
  const restriction = restrictTo(account, { write: true });
  await run(restriction.sql, restriction.parameters);
  const rows = await run(statement.sql, statement.parameters);
  if (mustReturnRow === true && rows.length === 0) throw new Abandoned('spent');
}

async function writeEntry(run: RunSql, { account, kind, value, subject, skipIfTaken }: DirectoryEntry): Promise<void> {
  const written = await run(
    `insert into directory (account_id, kind, value, subject_id) values ($1, $2, $3, $4)
     on conflict (kind, value) do update set subject_id = excluded.subject_id where directory.account_id = excluded.account_id
     returning value`,
    [account, kind, value, subject],
  );
  if (written.length === 0 && skipIfTaken !== true) throw new Abandoned('taken');
}
