import { InvalidInput } from '../../model/errors.ts';
import { statement } from '../builder.ts';
import type { Database, Run } from '../database.ts';

/** An account and where it stands. */
export interface OperatorAccount {
  readonly account: string;
  readonly revision: number;
}

const findText =
  'select a.account_id as account, a.revision from operator o join accounts a on a.account_id = o.account';

/** The account that is recorded as the operator's; `undefined` when none is, or the one that was is gone. */
export async function findOperatorAccount(database: Database): Promise<OperatorAccount | undefined> {
  const [row] = await database.lookUp(statement<OperatorAccount>(findText, []));
  return row;
}

/** Whether anybody was ever able to sign in on this server; once that is so, it stays so. */
export async function hadPeople(database: Database): Promise<boolean> {
  const [row] = await database.lookUp(
    statement<{ readonly had: boolean }>('select people_since is not null as had from operator', []),
  );
  return row?.had === true;
}

/** What a start of the server says about the operator's account. */
export interface OperatorStart {
  /** The id of the account that is made when the server has none. */
  readonly newId: string;
  /** ISO 8601. */
  readonly at: string;
  /** The id of the account that the settings name. */
  readonly named?: string | undefined;
}

/**
 * The operator's account: the one that the settings name, else the recorded one; on a server without accounts a new one,
 * which is recorded. `undefined`: there are accounts, and nothing says which of them is the operator's; age never does.
 */
export async function ensureOperatorAccount(database: Database, start: OperatorStart): Promise<string | undefined> {
  let account: string | undefined;
  await database.asOwner(async (run) => {
    // Two servers may start on an empty database at once: the second one waits here and finds the account of the first.
    await run('select pg_advisory_xact_lock(1212498020, 2)');
    account = start.named === undefined ? await findOrMake(run, start) : await requireAndRecord(run, start.named);
  });
  return account;
}

async function findOrMake(run: Run, { newId, at }: OperatorStart): Promise<string | undefined> {
  const [recorded] = await run(findText);
  if (recorded !== undefined) return String(recorded['account']);
  const [other] = await run('select from accounts limit 1');
  if (other !== undefined) return undefined;
  await run('insert into accounts (account_id, created_at) values ($1, $2)', [newId, at]);
  await recordOperatorAccount(run, newId);
  return newId;
}

/** Records an account as the operator's. Throws `InvalidInput` when there is none with this id. */
async function requireAndRecord(run: Run, account: string): Promise<string> {
  const [present] = await run('select from accounts where account_id = $1', [account]);
  if (present === undefined)
    throw new InvalidInput(
      `HEDDLE_OPERATOR_ACCOUNT names ${account.slice(0, 100)}, and this server has no account with that id; correct it, or unset it`,
    );
  await recordOperatorAccount(run, account);
  return account;
}

/** Records an account that is there as the operator's. */
export async function recordOperatorAccount(run: Run, account: string): Promise<void> {
  await run('insert into operator (account) values ($1) on conflict (one) do update set account = excluded.account', [
    account,
  ]);
}
