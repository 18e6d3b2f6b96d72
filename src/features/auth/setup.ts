import type { Call, Engine } from '../../commit/engine.ts';
import { hasSignInUsers, putCredentials, requireFirstSignInUser } from '../../db/accounts/credentials.ts';
import { findOperatorAccount, hasEverHadSignInUsers } from '../../db/accounts/operator.ts';
import { putToken } from '../../db/accounts/tokens.ts';
import { makeToken, tokenRandomBytes } from '../../lib/token.ts';
import type { AuditEvent } from '../../model/declare/kind.ts';
import { Conflict, Unauthenticated, Unavailable } from '../../model/errors.ts';
import { admitUser, type NewUserRequest } from '../accounts/admission.ts';
import { hashToken, tokenPrefix } from './authenticate.ts';
import { requireLocalPasswords } from './invites.ts';
import { hashPassword } from './passwords.ts';

/** Returns whether the server still waits for its first person. */
export async function isSetupRequired({ registry, database }: Engine): Promise<boolean> {
  const { embeddedIdp, localAuthDisabled } = registry.installation;
  return embeddedIdp && !localAuthDisabled && !(await hasSignInUsers(database));
}

/** Request to create the first person. */
interface FirstPerson {
  readonly email: string;
  readonly name: string;
  readonly password: string;
  /** Whether to create a token. `pat_expire_in` is its lifetime in days. */
  readonly create_pat: boolean;
  readonly pat_expire_in: number;
}

const dayMs = 24 * 60 * 60 * 1000;

/**
 * Creates the first person, an owner. Of concurrent calls, only one succeeds. Throws `Conflict` when there are people
 * already. When all people were deleted, strangers may not set the server up again: `mayReopen` returns whether the
 * caller is trusted, and `Unauthenticated` is thrown for other callers.
 */
export async function setUpServer(engine: Engine, person: FirstPerson, mayReopen: () => Promise<boolean>) {
  requireLocalPasswords(engine);
  // The order matters: a person who is created between the two queries must not count as deleted.
  const isReopened = await hasEverHadSignInUsers(engine.database);
  if (await hasSignInUsers(engine.database)) throw alreadySetUpError();
  if (isReopened && !(await mayReopen())) throw new Unauthenticated(closed);
  const found = await findOperatorAccount(engine.database);
  if (found === undefined)
    throw new Unavailable("the server has no operator's account yet; try again when it has started");
  const { account, revision } = found;
  const { name, password } = person;
  const email = person.email.trim();
  const id = engine.newId();
  const at = engine.now();
  const call: Call = { account, revision, actor: { type: 'user', id, name, email } };
  const token = person.create_pat ? newToken(engine, { account, id, at }, person.pat_expire_in) : undefined;
  const credentials = { account, email, user: id, hash: await hashPassword(engine, password), oneTime: false, at };
  const extraWrites = [
    putCredentials(credentials),
    requireFirstSignInUser(account, id),
    ...(token === undefined ? [] : [putToken(token.record)]),
  ];
  const meta = { name: 'setup', is_service_user: 'false', user_name: name };
  const events: readonly AuditEvent[] =
    token === undefined ? [] : [{ code: 'personal.access.token.create', target: id, meta }];
  const user = { email, name, role: 'owner', auto_groups: [], is_service_user: false };
  const request: NewUserRequest = {
    id,
    email,
    name,
    role: 'owner',
    groups: [],
    body: user,
    options: { strict: false },
  };
  try {
    const derived = { status: 'active' };
    await admitUser(engine, call, request, { extraWrites, isFindable: true, derived, events, isByServer: true });
  } catch (error) {
    if (error instanceof Conflict && (await hasSignInUsers(engine.database))) throw alreadySetUpError();
    throw error;
  }
  return { user_id: id, email, ...(token === undefined ? {} : { personal_access_token: token.value }) };
}

function newToken(
  { planEnvironment, newId }: Engine,
  { account, id: user, at }: { readonly account: string; readonly id: string; readonly at: string },
  days: number,
) {
  const value = makeToken(tokenPrefix, planEnvironment.random(tokenRandomBytes));
  const expiresAt = new Date(Date.parse(at) + days * dayMs).toISOString();
  const times = { createdAt: at, expiresAt };
  const record = { account, id: newId(), user, name: 'setup', hash: hashToken(value), createdBy: user, ...times };
  return { value, record };
}

const closed =
  "this server was set up before, and all its people were deleted; to set it up again, send the operator's token or the token of the machine owner";

function alreadySetUpError(): Conflict {
  return new Conflict('precondition', 'this server is set up already; sign in, or ask an owner to invite you');
}
