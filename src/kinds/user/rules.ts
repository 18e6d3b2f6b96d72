import type { Actor } from '../../model/declare/actor.ts';
import type { Fault, State } from '../../model/declare/kind.ts';
import type { Mutation } from '../../model/declare/mutation.ts';
import { tenantNotOwnedByActor } from '../../model/declare/owner-groups.ts';
import type { Stored } from '../../model/state/stored.ts';

/**
 * Checks who may change which user, in addition to the permissions of roles. Changes by the server itself are not
 * checked.
 */
export function checkMutation(mutation: Mutation<Stored<'User'>>, was: State, next: State): readonly Fault[] {
  const { before, after, actor } = mutation;
  const raised = actor === undefined ? [] : checkTenantOwnership(mutation, actor, was, next);
  if (before === undefined) return after === undefined ? [] : [...checkCreation(after, actor !== undefined), ...raised];
  if (actor === undefined) return [];
  const stated = actor.type === 'source' && after !== undefined ? checkStatedRole(before, after) : [];
  if (stated.length > 0) return stated;
  const caller = findCaller(was, actor);
  const others =
    caller === undefined || isAdminOrOwner(caller) ? [] : [notAllowedFault('only owners and admins manage users')];
  if (after === undefined) return [...others, ...checkDeletion(before, caller)];
  return [...others, ...checkCaller(before, after, caller), ...checkOwner(before, after, next), ...raised];
}

/**
 * The user who sets up a source need not be an owner, so its documents may neither grant nor revoke the role `owner`.
 */
function checkStatedRole(before: Stored<'User'>, after: Stored<'User'>): readonly Fault[] {
  const [was, is] = [before, after].map(({ spec }) => spec.role === 'owner');
  if (was === is) return [];
  const what = is ? 'cannot make a user an owner' : 'cannot take the role from an owner';
  return [notAllowedFault(`the documents of a source ${what}; an owner has to hand the role over`, '/role')];
}

/** The users of a group may be owners of a tenant. Only users with that right may add users to such a group. */
function checkTenantOwnership(
  { before, after }: Mutation<Stored<'User'>>,
  actor: Actor,
  was: State,
  next: State,
): readonly Fault[] {
  if (after === undefined) return [];
  const known = before === undefined ? [] : (before.spec.auto_groups ?? []);
  const added = (after.spec.auto_groups ?? []).filter((id) => !known.includes(id));
  const tenant = tenantNotOwnedByActor(was, actor, added, next);
  if (tenant === undefined) return [];
  return [
    notAllowedFault(
      `the users of one of these groups are owners of the tenant ${tenant}, so only an owner can add it; ask an owner`,
      '/auto_groups',
    ),
  ];
}

/** The caller: a user of the account, or of the account that manages it. */
type Caller = Pick<Stored<'User'>, 'id' | 'spec'>;

function findCaller(was: State, { type, id, granted }: Actor): Caller | undefined {
  if (granted !== undefined) return { id, spec: { role: granted, is_service_user: false } };
  return type === 'user' ? was.find('User', id) : undefined;
}

function checkCreation(user: Stored<'User'>, isAsked: boolean): readonly Fault[] {
  if (isMachineOwner(user)) return [];
  if (user.spec.role !== 'owner' || !isAsked) return checkEmail(user);
  const message = 'a new user cannot be an owner; make the user with another role, then hand the ownership over';
  return [{ code: 'user_role_owner', path: '/role', message }, ...checkEmail(user)];
}

/** Checks that people have an e-mail address, by which they are invited, and that service users have none. */
function checkEmail(user: Stored<'User'>): readonly Fault[] {
  const isService = user.spec.is_service_user === true;
  if (isService === ((user.spec.email ?? '') === '')) return [];
  // An identity provider may not provide the address of a person.
  if (!isService && user.derived.idp_id !== undefined) return [];
  const message = isService
    ? 'a service user has no e-mail address; leave `email` out, or set `is_service_user` to false'
    : 'a person is invited by e-mail; give `email`, or set `is_service_user` to true';
  return [{ code: isService ? 'user_email_unused' : 'user_email_missing', path: '/email', message }];
}

/** Whether the user is the machine owner, with which an installation begins. It is not a person. */
export function isMachineOwner(user: Stored<'User'>): boolean {
  return user.derived.system === 'owner';
}

function checkDeletion(user: Stored<'User'>, caller: Caller | undefined): readonly Fault[] {
  if (user.id === caller?.id)
    return [{ code: 'user_is_caller', path: '', message: 'you cannot delete yourself; ask another admin' }];
  if (user.spec.role === 'owner')
    return [notAllowedFault('an owner cannot be deleted; hand the ownership over to another user first')];
  // A user who waits for approval may be rejected.
  const isForeign = user.derived.issued === 'integration' && user.derived.pending_approval !== true;
  return isForeign && caller !== undefined && caller.spec.is_service_user !== true
    ? [notAllowedFault('the user comes from an identity provider; delete the user there, or with a service user')]
    : [];
}

/** Checks what callers may not do to themselves, and admins not to owners. */
function checkCaller(before: Stored<'User'>, after: Stored<'User'>, caller: Caller | undefined): readonly Fault[] {
  if (caller === undefined) return [];
  const faults: Fault[] = [];
  if (caller.id === before.id && before.spec.role !== after.spec.role)
    faults.push(notAllowedFault('you cannot change your own role; ask another admin', '/role'));
  if (caller.id === before.id && before.spec.is_blocked !== after.spec.is_blocked)
    faults.push(notAllowedFault('you cannot block or unblock yourself; ask another admin', '/is_blocked'));
  const concernsOwner = [before, after].some((user) => user.spec.role === 'owner');
  if (concernsOwner && caller.spec.role !== 'owner')
    faults.push(notAllowedFault('only an owner can change an owner or make a user an owner', '/role'));
  return faults;
}

/** Checks that an owner is a person who is not blocked, and that the account keeps at least one owner. */
function checkOwner(before: Stored<'User'>, after: Stored<'User'>, next: State): readonly Fault[] {
  if (after.spec.role === 'owner') {
    if (after.spec.is_service_user === true) return [notAllowedFault('a service user cannot be an owner', '/role')];
    return after.spec.is_blocked === true ? [notAllowedFault('an owner cannot be blocked', '/is_blocked')] : [];
  }
  if (before.spec.role !== 'owner' || next.ofKind('User').some((user) => user.spec.role === 'owner')) return [];
  return [notAllowedFault('the account would be without an owner; give the role to another user first', '/role')];
}

function isAdminOrOwner({ spec }: Caller): boolean {
  return ['owner', 'admin'].includes(spec.role ?? '');
}

function notAllowedFault(message: string, path = ''): Fault {
  return { code: 'not_allowed', path, message };
}
