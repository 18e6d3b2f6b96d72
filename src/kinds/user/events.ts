import type { AuditEvent, State } from '../../model/declare/kind.ts';
import type { Stored } from '../../model/state/stored.ts';
import { autoGroupEvents } from '../shared/auto-groups.ts';
import { eventsIf } from '../shared/events.ts';
import { isGroupPropagationEnabled } from '../shared/propagation.ts';

export function createdEvents(after: Stored<'User'>): readonly AuditEvent[] {
  if (isService(after)) return [{ code: 'service.user.create', meta: { name: after.name } }];
  const meta = { name: after.name, email: after.spec.email ?? '' };
  if (after.derived.invite !== undefined)
    return [{ code: 'user.invite.link.accept', meta: { email: after.spec.email ?? '' } }];
  // A person from an identity provider joins at the first sign-in.
  if (after.derived.idp_id === undefined || isInvited(after)) return [{ code: 'user.create', meta }];
  return [{ code: 'user.join', meta: { ...meta, pending_approval: String(after.derived.pending_approval === true) } }];
}

export function deletedEvents(before: Stored<'User'>): readonly AuditEvent[] {
  const meta = { name: before.name, created_at: before.createdAt };
  if (isService(before)) return [{ code: 'service.user.delete', meta }];
  const issued = before.derived.issued ?? 'api';
  const about = { ...meta, email: before.spec.email ?? '', issued };
  return [{ code: 'user.delete', meta: about }, ...eventsIf(isPending(before), 'user.reject', about)];
}

/**
 * Returns the events of an update: joining, approval, blocking, a new role, and groups that apply to the user's peers.
 */
export function updatedEvents(before: Stored<'User'>, after: Stored<'User'>, state: State): readonly AuditEvent[] {
  const named = { name: after.name, email: after.spec.email ?? '' };
  const role = after.spec.role ?? '';
  const isOwner = role === 'owner';
  const isBlocked = after.spec.is_blocked === true;
  const switched = before.spec.is_blocked !== after.spec.is_blocked;
  const about = { is_service_user: String(isService(after)), user_name: after.name };
  const groups = [before.spec.auto_groups ?? [], after.spec.auto_groups ?? []] as const;
  const joined = isInvited(before) && !isInvited(after);
  return [
    ...eventsIf(joined, 'user.join', named),
    ...eventsIf(isPending(before) && !isPending(after), 'user.approve', named),
    ...eventsIf(switched && !isPending(before), isBlocked ? 'user.block' : 'user.unblock', named),
    ...eventsIf(before.spec.role !== role, isOwner ? 'transferred.owner.role' : 'user.role.update', { ...named, role }),
    ...(isGroupPropagationEnabled(state) ? autoGroupEvents('user.group', ...groups, state, about) : []),
  ];
}

/** Whether the user has not signed in yet. */
function isInvited(user: Stored<'User'>): boolean {
  return (user.derived.status ?? 'invited') === 'invited';
}

/** Whether the user joined by e-mail domain and waits for approval. */
function isPending(user: Stored<'User'>): boolean {
  return user.derived.pending_approval === true;
}

function isService(user: Stored<'User'>): boolean {
  return user.spec.is_service_user === true;
}
