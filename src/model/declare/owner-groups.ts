import { isObject, type Json } from '../../lib/json.ts';
import type { Stored } from '../state/stored.ts';
import type { Actor } from './actor.ts';
import type { State } from './kind.ts';

// Admins can grant themselves every right except two: the role `owner`, and the ownership of a tenant, which users have
// through their groups. The rule: a caller who hands out a credential that acts as a user, or decides who a user is or
// which groups a user has, must have at least these two rights of the user.

/** Returns the ids of the groups whose users are owners of a tenant. */
export function ownerGroups(tenant: Stored<'MSPTenant'> | undefined): readonly string[] {
  const groups: Json | undefined = tenant?.spec.groups;
  if (!Array.isArray(groups)) return [];
  return groups.flatMap((group) => (isObject(group) && group['role'] === 'owner' ? [String(group['id'])] : []));
}

/** Whether the actor acts as an owner of the account. Always true for the server itself. */
export function actsAsOwner(was: State, actor: Actor): boolean {
  if (actor.type === 'system') return true;
  return actor.type === 'user' && (actor.granted ?? was.find('User', actor.id)?.spec.role) === 'owner';
}

/** Returns the name of a tenant that has a group as owners, or `undefined` when there is none. */
export function tenantWithOwners(state: State): string | undefined {
  return state.ofKind('MSPTenant').find((tenant) => ownerGroups(tenant).length > 0)?.name;
}

/** Returns the name of a tenant that has one of these groups as owners, or `undefined` when there is none. */
export function ownedTenant(state: State, groups: readonly string[]): string | undefined {
  return groups.length === 0 ? undefined : tenantsOwnedBy(state, groups)[0]?.name;
}

function tenantsOwnedBy(state: State, groups: readonly string[]): readonly Stored<'MSPTenant'>[] {
  return state.ofKind('MSPTenant').filter((tenant) => ownerGroups(tenant).some((id) => groups.includes(id)));
}

/**
 * Returns the name of a tenant that users of these groups own in the state `next`, and that the actor does not own in
 * the state `was`. Owners of the account may grant the ownership of every tenant.
 */
export function tenantNotOwnedByActor(
  was: State,
  actor: Actor,
  groups: readonly string[],
  next: State = was,
): string | undefined {
  if (groups.length === 0 || actsAsOwner(was, actor)) return undefined;
  const isUser = actor.type === 'user' && actor.granted === undefined;
  const own = isUser ? (was.find('User', actor.id)?.spec.auto_groups ?? []) : [];
  const held = new Set(tenantsOwnedBy(was, own).map(({ id }) => id));
  return tenantsOwnedBy(next, groups).find(({ id }) => !held.has(id))?.name;
}

/** The parts of a user that make the user an owner of the account or of a tenant. */
export interface Rights {
  readonly role?: string | undefined;
  readonly auto_groups?: readonly string[] | undefined;
}

/** Whether a user with these rights is an owner of the account or of a tenant. */
export function hasRightsOfOwner(state: State, { role, auto_groups }: Rights): boolean {
  return role === 'owner' || ownedTenant(state, auto_groups ?? []) !== undefined;
}

/**
 * Returns the right of a user that the actor does not have, as text for a message; `undefined` when the actor has them
 * all, and so may have a credential that acts as the user.
 */
export function rightBeyondActor(state: State, actor: Actor, { role, auto_groups }: Rights): string | undefined {
  if (actsAsOwner(state, actor)) return undefined;
  if (role === 'owner') return 'the role `owner`';
  const tenant = tenantNotOwnedByActor(state, actor, auto_groups ?? []);
  return tenant === undefined ? undefined : `the ownership of the tenant ${tenant} through a group`;
}

/**
 * Returns the name of a tenant whose owners an integration decides: it provides a group whose users own the tenant.
 * `undefined` when there is none.
 */
export function tenantOfIntegration(state: State, integration: string): string | undefined {
  const isProvided = (group: string) => state.find('Group', group)?.derived.provided?.by === integration;
  return state.ofKind('MSPTenant').find((tenant) => ownerGroups(tenant).some(isProvided))?.name;
}
