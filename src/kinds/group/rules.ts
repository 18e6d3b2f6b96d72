import type { Json } from '../../lib/json.ts';
import type { State } from '../../model/kind.ts';
import type { StoredObject } from '../../model/object.ts';
import { resourceTypeOf } from '../shared/resource-type.ts';
import { textOf } from '../shared/stored.ts';

/** The network resources that say they belong to the group; their side owns the relation. */
export function resourcesOf(group: StoredObject, state: State): readonly Json[] {
  return state
    .referrersOf(group.id)
    .filter(({ from, field }) => from.kind === 'NetworkResource' && field === 'groups')
    .map(({ from }) => ({ id: from.id, type: resourceTypeOf(textOf(from, 'address')) }));
}

/** Every peer of the account, as the members of a group are shown. */
export function listAllPeers(state: State): readonly Json[] {
  return state.ofKind('Peer').map((peer) => ({ id: peer.id, name: peer.name }));
}
