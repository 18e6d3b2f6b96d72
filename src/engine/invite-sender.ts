import { may } from '../model/roles.ts';
import type { Snapshot } from '../model/snapshot.ts';
import { subjectOf } from '../plan/authorize.ts';
import type { Invite } from '../store/invites.ts';

/**
 * Whether whoever invited may still make users: an invite gives nothing that its sender could not give. People of an
 * account that looks after this one are not in it, and a user who is there already was made when it was allowed.
 */
export function isBacked(state: Snapshot, { user, createdBy }: Pick<Invite, 'user' | 'createdBy'>): boolean {
  const sender = state.get(createdBy);
  if (user !== null || sender === undefined) return true;
  return sender.spec['is_blocked'] !== true && may(subjectOf(sender), 'users', 'create');
}
