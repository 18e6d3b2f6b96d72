import type { Invite } from '../../db/accounts/invites.ts';
import { mayPerform } from '../../model/declare/roles.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import { subjectOfUser } from '../../plan/checks/authorize.ts';

/**
 * Returns why an invite is no longer valid; `undefined` when it is valid. An invite for an existing user is valid for
 * their first sign-in only. Any other invite grants nothing that its sender could not grant. A sender who belongs to
 * the keeper of the account is not a user of the account, and is not checked.
 */
export function inviteFault(state: Snapshot, { user, createdBy }: Pick<Invite, 'user' | 'createdBy'>) {
  if (user !== null)
    return state.find('User', user)?.derived.status === 'active'
      ? 'you have signed in already, so the invite is no longer valid; sign in the same way again'
      : undefined;
  const sender = state.find('User', createdBy);
  if (sender === undefined) return undefined;
  const isBacked = sender.spec.is_blocked !== true && mayPerform(subjectOfUser(sender), 'users', 'create');
  return isBacked ? undefined : 'the sender of the invite may no longer invite users; ask for a new invite';
}
