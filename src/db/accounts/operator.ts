import { InvalidInput } from '../../model/errors.ts';
import { statement } from '../builder.ts';
import type { Database, RunSql } from '../database.ts';

/** The operator's account and its current revision. */
export interface OperatorAccount {
  readonly account: string;
  readonly revision: number;
}

const findText =
  'select a.account_id as account, a.revision from operator o join accounts a on a.account_id = o.account';

/**
 * Returns the account that is recorded as the operator's. Returns `undefined` when none is recorded, or when the
 * recorded account no longer exists.
 */
export async function findOperatorAccount(database: Database): Promise<OperatorAccount | undefined> {
  const [row] = await database.lookUp(statement<OperatorAccount>(findText, []));
  return row;
}

/** Returns whether any person was ever able to sign in on this server. Never changes back to false. */
export async function hasEverHadSignInUsers(database: Database): Promise<boolean> {
  const [row] = await database.lookUp(
    statement<{ readonly had: boolean }>('select people_since is not null as had from operator', []),
  );
  return row?.had === true;
}

/** Input of a server start for finding the operator's account. */
export interface OperatorAccountOptions {
  /** Id of the account to create when the server has no accounts. */
  readonly newId: string;
  /** Time of the start, in ISO 8601. */
  readonly at: string;
  /** Id of the account that `HEDDLE_OPERATOR_ACCOUNT` names. */
  readonly configuredId?: string | undefined;
}

/**
 * Returns the operator's account: the one that the settings name, otherwise the recorded one. On a server without
 * accounts, creates an account and records it. Returns `undefined` when accounts exist but neither the settings nor the
 * record name one; the oldest account is never assumed to be the operator's.
 */
export async function ensureOperatorAccount(
  database: Database,
  start: OperatorAccountOptions,
): Promise<string | undefined> {
  let account: string | undefined;
  await database.asOwner(async (run) => {
    // Two servers may start on an empty database at the same time. The second one waits here and then finds the account
    // that the first one created.
    await run('select pg_advisory_xact_lock(1212498020, 2)');
    account =
      start.configuredId === undefined
        ? await findOrCreate(run, start)
        : await requireAndRecord(run, start.configuredId);
  });
  return account;
}

async function findOrCreate(run: RunSql, { newId, at }: OperatorAccountOptions): Promise<string | undefined> {
  const [recorded] = await run(findText);
  if (recorded !== undefined) return String(recorded['account']);
  const [other] = await run('select from accounts limit 1');
  if (other !== undefined) return undefined;
  await run('insert into accounts (account_id, created_at) values ($1, $2)', [newId, at]);
  await recordOperatorAccount(run, newId);
  return newId;
}

/** Records an account as the operator's. Throws `InvalidInput` when no account has this id. */
async function requireAndRecord(run: RunSql, account: string): Promise<string> {
  const [present] = await run('select from accounts where account_id = $1', [account]);
  if (present === undefined)
    throw new InvalidInput(
      `HEDDLE_OPERATOR_ACCOUNT names ${account.slice(0, 100)}, and this server has no account with that id; correct it, or unset it`,
    );
  await recordOperatorAccount(run, account);
  return account;
}

/** Records an existing account as the operator's. */
export async function recordOperatorAccount(run: RunSql, account: string): Promise<void> {
  await run('insert into operator (account) values ($1) on conflict (one) do update set account = excluded.account', [
    account,
  ]);
}
