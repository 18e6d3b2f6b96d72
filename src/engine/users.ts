import { isObject, type JsonObject } from '../lib/json.ts';
import { NotFound } from '../model/errors.ts';
import { lowerToResponse } from '../model/lower/response.ts';
import type { StoredObject } from '../model/object.ts';
import { rightsOf } from '../model/roles.ts';
import type { Snapshot } from '../model/snapshot.ts';
import { subjectOf } from '../plan/authorize.ts';
import type { Call, Engine } from './engine.ts';

/** A user as the interface shows it, with the revision it is from. */
export interface ShownUser {
  readonly version: number;
  readonly body: JsonObject;
}

/** The user who asks, with what they may do. Throws `NotFound` for callers who are no users. */
export async function readCaller(engine: Engine, call: Call): Promise<ShownUser> {
  const state = await engine.snapshots.at(call.account, call.revision);
  const user = state.get(call.actor.id);
  if (user === undefined) throw new NotFound(`user ${call.actor.id} not found`);
  const seen = state.seen({ now: engine.now(), viewer: user.id });
  const permissions = { is_restricted: isRestricted(user, state), modules: rightsOf(subjectOf(user)) };
  return { version: user.updatedRevision, body: { ...lowerToResponse(engine.registry, user, seen), permissions } };
}

const restricted = ['user', 'billing_admin'];

/** Whether the user sees only what is theirs, because the account says so. */
function isRestricted(user: StoredObject, state: Snapshot): boolean {
  const settings = state.ofKind('Account')[0]?.spec['settings'];
  const isBlocked = isObject(settings) && settings['regular_users_view_blocked'] === true;
  return isBlocked && restricted.includes(String(user.spec['role']));
}
