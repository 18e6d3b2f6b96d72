import type { Json } from '../../lib/json.ts';
import type { Fault, Mutation, State } from '../../model/declare/kind.ts';
import type { Stored } from '../../model/state/stored.ts';
import { resourceTypeOf } from '../shared/resource-type.ts';
import { actsAsOwner, ownedTenant } from '../shared/tenant-owners.ts';

/** The network resources that say they belong to the group; their side owns the relation. */
export function resourcesOf(group: Stored<'Group'>, state: State): readonly Json[] {
  const ids = state.referrersBy('NetworkResource', 'groups', group.id).map(({ id }) => id);
  return inOrderOf(group, ids).flatMap((id) => {
    const resource = state.find('NetworkResource', id);
    return resource === undefined ? [] : [{ id, type: resourceTypeOf(resource.spec.address ?? '') }];
  });
}

/** Resources in the order in which the group was given them last; those that joined by themselves follow. */
export function inOrderOf({ derived }: Stored<'Group'>, ids: readonly string[]): readonly string[] {
  const order = derived.resource_order;
  if (order === undefined) return ids;
  const places = new Map(order.map((id, at) => [id, at]));
  return [...ids].sort((a, b) => (places.get(a) ?? places.size) - (places.get(b) ?? places.size));
}

/** Every peer of the account, as the members of a group are shown. */
export function listAllPeers(state: State): readonly Json[] {
  return state.ofKind('Peer').map((peer) => ({ id: peer.id, name: peer.name }));
}

/** A claim fills groups by their names: where one makes owners of a tenant, only an owner gives it another name. */
export function keepProvidedName(
  { before, after, actor }: Mutation<Stored<'Group'>>,
  was: State,
  next: State,
): readonly Fault[] {
  if (after === undefined || actor === undefined || before?.name === after.name || actsAsOwner(was, actor)) return [];
  const tenant = ownedTenant(next, [after.id]);
  if (tenant === undefined || after.derived.issued !== 'jwt') return [];
  const message = `the group makes its users owners of the tenant ${tenant}, and its name decides who is in it; ask an owner`;
  return [{ code: 'not_allowed', path: '/name', message }];
}
