import type { Json } from '../../lib/json.ts';
import type { Fault, State } from '../../model/declare/kind.ts';
import type { Mutation } from '../../model/declare/mutation.ts';
import { actsAsOwner, ownedTenant } from '../../model/declare/owner-groups.ts';
import type { Stored } from '../../model/state/stored.ts';
import { resourceTypeOf } from '../shared/resource-type.ts';

/** Returns the network resources that name the group. The resources own the relation. */
export function resourcesOf(group: Stored<'Group'>, state: State): readonly Json[] {
  const ids = state.referrersBy('NetworkResource', 'groups', group.id).map(({ id }) => id);
  return sortByResourceOrder(group, ids).flatMap((id) => {
    const resource = state.find('NetworkResource', id);
    return resource === undefined ? [] : [{ id, type: resourceTypeOf(resource.spec.address ?? '') }];
  });
}

/** Sorts resources as a request last listed them. Resources that joined in another way come last. */
export function sortByResourceOrder({ derived }: Stored<'Group'>, ids: readonly string[]): readonly string[] {
  const order = derived.resource_order;
  if (order === undefined) return ids;
  const indexById = new Map(order.map((id, at) => [id, at]));
  return [...ids].sort((a, b) => (indexById.get(a) ?? indexById.size) - (indexById.get(b) ?? indexById.size));
}

/** Returns every peer of the account, in the format of group members. */
export function listAllPeers(state: State): readonly Json[] {
  return state.ofKind('Peer').map((peer) => ({ id: peer.id, name: peer.name }));
}

/**
 * A claim fills groups by name. Where the users of such a group become owners of a tenant, only an owner may rename it.
 */
export function refuseProvidedRename(
  { before, after, actor }: Mutation<Stored<'Group'>>,
  was: State,
  next: State,
): readonly Fault[] {
  if (after === undefined || actor === undefined || before?.name === after.name || actsAsOwner(was, actor)) return [];
  const tenant = ownedTenant(next, [after.id]);
  if (tenant === undefined || after.derived.issued !== 'jwt') return [];
  const message = `the users of this group are owners of the tenant ${tenant}, and the group is filled by its name, so only an owner can change the name; ask an owner`;
  return [{ code: 'not_allowed', path: '/name', message }];
}
