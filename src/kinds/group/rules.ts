import type { Json } from '../../lib/json.ts';
import type { State } from '../../model/kind.ts';
import type { StoredObject } from '../../model/object.ts';
import { resourceTypeOf } from '../shared/resource-type.ts';
import { textOf } from '../shared/stored.ts';

/** The network resources that say they belong to the group; their side owns the relation. */
export function resourcesOf(group: StoredObject, state: State): readonly Json[] {
  const ids = state
    .referrersOf(group.id)
    .filter(({ from, field }) => from.kind === 'NetworkResource' && field === 'groups')
    .map(({ from }) => from.id);
  return inOrderOf(group, ids).flatMap((id) => {
    const resource = state.get(id);
    return resource === undefined ? [] : [{ id, type: resourceTypeOf(textOf(resource, 'address')) }];
  });
}

/** Resources in the order in which the group was given them last; those that joined by themselves follow. */
export function inOrderOf({ derived }: StoredObject, ids: readonly string[]): readonly string[] {
  const order = derived['resource_order'];
  if (!Array.isArray(order)) return ids;
  const places = new Map(order.map((id, at) => [String(id), at]));
  return [...ids].sort((a, b) => (places.get(a) ?? places.size) - (places.get(b) ?? places.size));
}

/** Every peer of the account, as the members of a group are shown. */
export function listAllPeers(state: State): readonly Json[] {
  return state.ofKind('Peer').map((peer) => ({ id: peer.id, name: peer.name }));
}
