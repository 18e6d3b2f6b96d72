import type { Invite } from '../../db/accounts/invites.ts';
import { hasRightsOfOwner, type Rights, rightBeyondActor } from '../../model/declare/owner-groups.ts';
import { mayPerform } from '../../model/declare/roles.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import type { Stored } from '../../model/state/stored.ts';
import { subjectOfUser } from '../../plan/checks/authorize.ts';

type SentInvite = Pick<Invite, 'user' | 'createdBy' | 'role' | 'groups'>;

/**
 * Returns why an invite is no longer valid; `undefined` when it is valid. An invite for an existing user is valid for
 * their first sign-in only. No invite grants a right that its sender could not grant at this moment, unless it says that
 * it was sent by an owner. A sender who is not a user of the account was deleted or belongs to the managing account.
 */
export function inviteFault(state: Snapshot, { user, createdBy, role, groups }: SentInvite): string | undefined {
  const invited = user === null ? undefined : state.find('User', user);
  if (invited?.derived.status === 'active')
    return 'you have signed in already, so the invite is no longer valid; sign in the same way again';
  const sender = state.find('User', createdBy);
  if (user === null && sender !== undefined && !mayInvite(sender))
    return 'the sender of the invite may no longer invite users; ask for a new invite';
  const rights = user === null ? { role, auto_groups: groups } : (invited?.spec ?? {});
  const isByOwner = user !== null && role === 'owner';
  if (isByOwner) return undefined;
  const isExceeded = sender === undefined ? hasRightsOfOwner(state, rights) : exceedsSender(state, sender, rights);
  if (!isExceeded) return undefined;
  return 'the invite grants the rights of an owner, which its sender does not have; ask an owner for a new invite';
}

function mayInvite(sender: Stored<'User'>): boolean {
  return sender.spec.is_blocked !== true && mayPerform(subjectOfUser(sender), 'users', 'create');
}

function exceedsSender(state: Snapshot, { id, name }: Stored<'User'>, rights: Rights): boolean {
  return rightBeyondActor(state, { type: 'user', id, name }, rights) !== undefined;
}
