import { isObject, type Json } from '../../lib/json.ts';
import type { Actor } from '../../model/declare/actor.ts';
import type { State } from '../../model/declare/kind.ts';
import type { Stored } from '../../model/state/stored.ts';

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
  if (groups.length === 0) return undefined;
  return state.ofKind('MSPTenant').find((tenant) => ownerGroups(tenant).some((id) => groups.includes(id)))?.name;
}
