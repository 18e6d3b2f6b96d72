import { isObject, type Json } from '../../lib/json.ts';
import type { State } from '../../model/kind.ts';
import type { StoredObject } from '../../model/object.ts';

/** The groups whose users are owners of a tenant. */
export function ownerGroups(tenant: StoredObject | undefined): readonly string[] {
  const groups: Json | undefined = tenant?.spec['groups'];
  if (!Array.isArray(groups)) return [];
  return groups.flatMap((group) => (isObject(group) && group['role'] === 'owner' ? [String(group['id'])] : []));
}

/** The name of a tenant of which one of these groups makes owners, `undefined` when there is none. */
export function ownedTenant(state: State, groups: readonly string[]): string | undefined {
  if (groups.length === 0) return undefined;
  return state.ofKind('MSPTenant').find((tenant) => ownerGroups(tenant).some((id) => groups.includes(id)))?.name;
}
