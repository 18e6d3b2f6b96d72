import type { Call, Engine } from '../../commit/engine.ts';
import { maxAttempts, storeOnce, writeUntilKnown } from '../../commit/in-doubt.ts';
import { newIdFor } from '../../commit/new-id.ts';
import { createToken, deleteToken, listTokens, readTokenHash, type TokenRow } from '../../db/accounts/tokens.ts';
import type { AuditEntry } from '../../db/audit-entry.ts';
import type { Operation } from '../../model/declare/roles.ts';
import { NotAllowed, NotFound, Unavailable } from '../../model/errors.ts';
import type { SpecOf } from '../../model/schema/field.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import type { Stored } from '../../model/state/stored.ts';
import type { tokenRequest } from '../../operations/tokens.ts';
import { isAllowed } from '../../plan/checks/authorize.ts';
import { requireUser } from './admission.ts';
import { requireRightsOf } from './users.ts';

/** A new token: its value, which is shown only once, and the hash that is stored. */
export interface NewToken {
  readonly value: string;
  readonly hash: string;
}

const dayMs = 24 * 60 * 60 * 1000;

/**
 * Returns the tokens of a user. Users may read their own tokens; tokens of service users require the right to read
 * tokens.
 */
export async function readTokens(engine: Engine, call: Call, user: string) {
  await requireTokenOwner(engine, call, user, 'read');
  return (await listTokens(engine.database, call.account, user)).map(show);
}

/** Returns one token of a user. Throws `NotFound`. */
export async function readToken(engine: Engine, call: Call, user: string, id: string) {
  await requireTokenOwner(engine, call, user, 'read');
  const found = (await listTokens(engine.database, call.account, user)).find((token) => token.id === id);
  if (found === undefined) throw new NotFound(`token ${id} not found`);
  return show(found);
}

/** Throws when the caller may not create tokens for a user. */
export async function requireTokenRight(engine: Engine, call: Call, user: string): Promise<void> {
  await requireTokenOwner(engine, call, user, 'create');
}

/** Creates a token for the caller or for a service user. `make` returns the value. */
export async function addToken(
  engine: Engine,
  call: Call,
  user: string,
  { name, expires_in: days, plan_only: planOnly }: SpecOf<typeof tokenRequest>,
  make: () => NewToken,
) {
  const { account } = call;
  let state = await engine.snapshots.atLeast(account, call.revision);
  let owner = requireManageableUser(state, call, user, 'create');
  const { value, hash } = make();
  const at = engine.now();
  const id = newIdFor(engine, call);
  const expiresAt = new Date(Date.parse(at) + days * dayMs).toISOString();
  const record = { account, id, user, name, hash, planOnly, createdBy: call.actor.id, createdAt: at, expiresAt };
  const row = { id, user_id: user, name, created_by: call.actor.id, last_used: null, plan_only: planOnly };
  const shown = show({ ...row, created_at: new Date(at), expires_at: new Date(expiresAt) });
  const made = { plain_token: value, personal_access_token: shown };
  const kept = call.sealOnce?.({ body: made });
  const store = () =>
    createToken(engine.database, record, auditEntry(call, 'create', owner, name, at), state.revision, kept);
  // A token with the same id and another hash was stored by an earlier attempt of the same request, whose value is
  // lost.
  const find = async () => ((await readTokenHash(engine.database, account, id)) === hash ? true : undefined);
  for (let attempt = 0; !(await storeOnce({ requestId: id }, find, store)); attempt++) {
    if (attempt === maxAttempts) throw new Unavailable('the account kept changing during the attempts; try again');
    // The change of the account may have removed the right to create the token.
    state = await engine.snapshots.fresh(account);
    owner = requireManageableUser(state, call, user, 'create');
  }
  return made;
}

/** Deletes a token of the caller or of a service user. Throws `NotFound`. */
export async function removeToken(engine: Engine, call: Call, user: string, id: string): Promise<void> {
  const owner = await requireTokenOwner(engine, call, user, 'delete');
  const { name } = await readToken(engine, call, user, id);
  const what = { account: call.account, user, id };
  const entry = auditEntry(call, 'delete', owner, name, engine.now());
  // The token existed a moment ago. If a repeated attempt does not find it, the attempt in doubt has deleted it.
  const isDone = await writeUntilKnown(
    { requestId: id },
    async (again) => (await deleteToken(engine.database, what, entry)) || again,
  );
  if (!isDone) throw new NotFound(`token ${id} not found`);
}

/**
 * Returns the user whose tokens the call is about. Throws `NotAllowed` unless the caller may do `operation` with them.
 */
async function requireTokenOwner(
  engine: Engine,
  call: Call,
  id: string,
  operation: Operation,
): Promise<Stored<'User'>> {
  return requireManageableUser(await engine.snapshots.atLeast(call.account, call.revision), call, id, operation);
}

function requireManageableUser(state: Snapshot, call: Call, id: string, operation: Operation): Stored<'User'> {
  const user = requireUser(state, id);
  if (id === call.actor.id) return user;
  if (user.spec.is_service_user !== true)
    throw new NotAllowed('only the people themselves may manage their tokens; make a token for a service user instead');
  if (!mayManageTokens(state, call, operation))
    throw new NotAllowed('only owners and admins may manage the tokens of service users');
  if (operation === 'create') requireRightsOf(state, call, user);
  return user;
}

/**
 * Whether the caller may do `operation` with tokens of service users: managers may do everything, and callers who may
 * read tokens may read them.
 */
function mayManageTokens(state: Snapshot, { actor }: Call, operation: Operation): boolean {
  if (operation === 'read') return isAllowed(state, actor, 'pats', 'read');
  return isAllowed(state, actor, 'pats', operation) && isAllowed(state, actor, 'users', 'update');
}

function auditEntry(
  call: Call,
  what: 'create' | 'delete',
  owner: Stored<'User'>,
  name: string,
  at: string,
): AuditEntry {
  const isService = String(owner.spec.is_service_user === true);
  const meta = { name, is_service_user: isService, user_name: owner.name };
  return { actor: call.actor, at, event: { code: `personal.access.token.${what}`, target: owner.id, meta } };
}

function show(token: TokenRow) {
  return {
    id: token.id,
    name: token.name,
    expiration_date: token.expires_at.toISOString(),
    created_by: token.created_by,
    created_at: token.created_at.toISOString(),
    ...(token.last_used === null ? {} : { last_used: token.last_used.toISOString() }),
    ...(token.plan_only ? { plan_only: true } : {}),
  };
}
