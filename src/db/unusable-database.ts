import { codeOf, routineOf } from '../lib/error-code.ts';
import { Unavailable } from '../model/errors.ts';

/**
 * The database answers, but Heddle cannot work with it until its operator changes something: waiting and trying again
 * do not help.
 */
export class UnusableDatabase extends Unavailable {}

/**
 * The database accepted no writes when this one was sent: its server is a standby since a failover, or the operator or a
 * nearly full disk made it read-only. Nothing was written.
 */
export class ReadOnlyDatabase extends Unavailable {
  constructor(cause: unknown) {
    super('The database accepts no writes at the moment; nothing was written.', { cause });
  }
}

const insufficientPrivilege = '42501';
/** SQLSTATE of a write in a transaction that is read-only. */
export const readOnlyTransaction = '25006';

/**
 * The routine of Postgres that reports a violation of row-level security, which has the SQLSTATE of a missing right.
 */
const rowSecurityRoutine = 'ExecWithCheckOptions';

/**
 * Returns the error of a Postgres that denies its role a right, or that accepts no writes; `undefined` for other
 * errors. A violation of row-level security is none of these, but a defect of the program. Only for errors of a start,
 * a migration or a command of the operator: in a request, the same errors are defects, and the advice is not for the
 * caller.
 */
export function refusalOf(failure: unknown): UnusableDatabase | undefined {
  const error = failure instanceof ReadOnlyDatabase ? failure.cause : failure;
  const code = codeOf(error);
  const reason = error instanceof Error ? error.message : String(error);
  if (code === insufficientPrivilege && routineOf(error) !== rowSecurityRoutine)
    return new UnusableDatabase(
      `Postgres denies the role of HEDDLE_DATABASE_URL a right: ${reason}. The role must own Heddle's tables, or be able to create them: ` +
        'make it the owner of the database (`alter database NAME owner to ROLE`), or run `grant create on schema public to ROLE`. ' +
        'For the first start it also needs CREATEROLE, or membership in an existing role heddle_app.',
      { cause: error },
    );
  if (code !== readOnlyTransaction) return undefined;
  return new UnusableDatabase(
    `The database accepts no writes: ${reason}. Name the primary server in HEDDLE_DATABASE_URL, not a standby, and turn default_transaction_read_only off.`,
    { cause: error },
  );
}

/**
 * Returns the error of a Postgres that does not let its role connect to the database; `undefined` for other errors of
 * a connection.
 */
export function connectionRefusalOf(error: unknown): UnusableDatabase | undefined {
  if (codeOf(error) !== insufficientPrivilege) return undefined;
  const reason = error instanceof Error ? error.message : String(error);
  return new UnusableDatabase(
    `The database cannot be reached: ${reason}. Let the role of HEDDLE_DATABASE_URL connect to it with \`grant connect on database NAME to ROLE\`, or correct the role or the database in HEDDLE_DATABASE_URL.`,
    { cause: error },
  );
}
