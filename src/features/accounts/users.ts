import { settingsOf } from '../../commit/account-settings.ts';
import type { Call, Engine } from '../../commit/engine.ts';
import type { JsonObject } from '../../lib/json.ts';
import { rightBeyondActor } from '../../model/declare/owner-groups.ts';
import { rightsOf } from '../../model/declare/roles.ts';
import { Conflict, InvalidInput, NotAllowed, NotFound } from '../../model/errors.ts';
import { lowerToResponse } from '../../model/lower/response.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import type { Stored } from '../../model/state/stored.ts';
import { contextOf, type WriteOptions, type WriteResult, write } from '../../objects/objects.ts';
import { readObserved } from '../../objects/observed.ts';
import { subjectOfUser } from '../../plan/checks/authorize.ts';
import { planDelete, planReplace } from '../../plan/requests/requests.ts';
import { requireUser, userKind } from './admission.ts';

/** A user as the API shows it, with the revision of its last change. */
export interface ShownUser {
  readonly version: number;
  readonly body: JsonObject;
}

/** Returns the user who calls, with their permissions. Throws `NotFound` for callers who are not users. */
export async function readCaller(engine: Engine, call: Call): Promise<ShownUser> {
  // A caller who acts in the account of a tenant is still a user of the home account, with other rights.
  const { account, revision } = call.home ?? call;
  const state = await engine.snapshots.atLeast(account, revision);
  const { id, granted } = call.actor;
  const user = state.find(userKind, id);
  if (user === undefined) throw new NotFound(`user ${id} not found`);
  const observed = await readObserved(engine, engine.registry.get(userKind), account);
  const seen = state.viewedAs({ now: engine.now(), viewer: user.id, ...(observed === undefined ? {} : { observed }) });
  const subject = granted === undefined ? subjectOfUser(user) : { role: granted, isServiceUser: false };
  const permissions = { is_restricted: granted === undefined && isRestricted(user, state), modules: rightsOf(subject) };
  return { version: user.updatedRevision, body: { ...lowerToResponse(engine.registry, user, seen), permissions } };
}

const restricted = ['user', 'billing_admin'];

/** Whether the user sees only their own objects, because a setting of the account requires it. */
function isRestricted(user: Stored<'User'>, state: Snapshot): boolean {
  const isBlocked = settingsOf(state).regular_users_view_blocked === true;
  return isBlocked && restricted.includes(user.spec.role ?? '');
}

/** Approves a user who waits for approval. Throws `InvalidInput` when the user does not wait for approval. */
export async function approveUser(engine: Engine, call: Call, id: string, options: WriteOptions): Promise<WriteResult> {
  const kind = engine.registry.get(userKind);
  return await write(engine, call, kind, (state) => {
    const user = requirePending(state, id);
    const { role = '', auto_groups = [] } = user.spec;
    const body = { role, auto_groups, is_blocked: false };
    return planReplace(contextOf(engine, call, state, options), kind, user, body, { pending_approval: false });
  });
}

/**
 * Rejects, and deletes, a user who waits for approval. Throws `InvalidInput` when the user does not wait for approval.
 */
export async function rejectUser(engine: Engine, call: Call, id: string, options: WriteOptions): Promise<void> {
  const kind = engine.registry.get(userKind);
  await write(engine, call, kind, (state) =>
    planDelete(contextOf(engine, call, state, options), kind, requirePending(state, id)),
  );
}

function requirePending(state: Snapshot, id: string): Stored<'User'> {
  const user = requireUser(state, id);
  if (user.derived.pending_approval === true) return user;
  const message = `${user.name} does not wait for an approval; block or delete the user instead`;
  throw new InvalidInput(message, { problems: [{ code: 'user_not_pending', path: '', message }] });
}

/** Returns a person who has not signed in yet and may be invited again. Throws `Conflict` for other users. */
export async function requireInvitable(engine: Engine, call: Call, id: string): Promise<Stored<'User'>> {
  const state = await engine.snapshots.atLeast(call.account, call.revision);
  const user = requireUser(state, id);
  requireRightsOf(state, call, user);
  const isProgram = user.spec.is_service_user === true;
  if (!isProgram && (user.derived.status ?? 'invited') === 'invited') return user;
  const why = isProgram ? 'is a service user, which has no address to invite' : 'has signed in already';
  throw new Conflict('precondition', `${user.name} ${why}; there is no invitation to send`);
}

/**
 * Throws `NotAllowed` unless the caller has at least the rights of a user: a token or an invite link acts as the user
 * for anyone who has it.
 */
export function requireRightsOf(state: Snapshot, { actor }: Call, { name, spec }: Stored<'User'>): void {
  const right = rightBeyondActor(state, actor, spec);
  if (right === undefined) return;
  throw new NotAllowed(`${name} has ${right}, which you do not have, so you may not act as this user; ask an owner`);
}
