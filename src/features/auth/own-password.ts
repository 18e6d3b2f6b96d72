import type { Call, Engine } from '../../commit/engine.ts';
import { changePassword, readCredentials } from '../../db/accounts/credentials.ts';
import { Conflict, InvalidInput } from '../../model/errors.ts';
import type { ProblemCode } from '../../model/problem-codes.ts';
import type { SpecOf } from '../../model/schema/field.ts';
import type { passwordChange } from '../../operations/users.ts';
import { auditEntry, requireUser } from '../accounts/admission.ts';
import { requireLocalPasswords } from './invites.ts';
import type { LocalSignIn } from './local-people.ts';
import { hashPassword, verifyPassword } from './passwords.ts';
import { accountPersonKey } from './sign-in-limits.ts';

/** Network address of the client. */
interface ClientAddress {
  readonly address: string;
}

/**
 * Changes the caller's own password, which ends their other sessions. Returns 0, or the seconds to wait after too many
 * wrong passwords. Throws `InvalidInput` when the old password is wrong.
 */
export async function changeOwnPassword(
  engine: Engine,
  people: LocalSignIn,
  call: Call,
  id: string,
  { old_password: old, new_password: next }: SpecOf<typeof passwordChange>,
  { address }: ClientAddress,
): Promise<number> {
  const { account } = call;
  const user = requireUser(await engine.snapshots.atLeast(account, call.revision), id);
  requireLocalPasswords(engine);
  if (id !== call.actor.id) throw refuse('', 'user_not_caller', 'people may change only their own password');
  const guess = { address, person: accountPersonKey(account, String(user.spec.email ?? id)) };
  const seconds = people.signInLimits.beginAttempt(guess);
  if (seconds > 0) return seconds;
  const present = await readCredentials(engine.database, account, id);
  if (!(await verifyPassword(engine, present?.hash, old)) || present === undefined)
    throw refuse('/old_password', 'password_wrong', '`old_password` is not your password');
  people.signInLimits.recordSuccess(guess);
  const entry = auditEntry(call, engine.now(), { code: 'user.password.change', target: id, meta: { name: user.name } });
  const change = {
    account,
    user: id,
    hash: await hashPassword(engine, next),
    oneTime: false,
    replacedHash: present.hash,
  };
  if (!(await changePassword(engine.database, change, entry)))
    throw new Conflict('stale', 'your password was changed by another request at the same moment; try again');
  for (const ended of people.passwordChangeListeners) await ended({ account, user: id });
  return 0;
}

function refuse(path: string, code: ProblemCode, message: string): InvalidInput {
  return new InvalidInput(message, { problems: [{ code, path, message }] });
}
