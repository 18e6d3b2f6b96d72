import { equalJson, type JsonObject } from '../../lib/json.ts';
import type { Fault, State } from '../../model/declare/kind.ts';
import type { DerivedChange, ObjectChange } from '../../model/declare/mutation.ts';
import type { Stored } from '../../model/state/stored.ts';
import { holdsPeer, isAll, setPeerOrigins } from '../shared/membership.ts';
import { resourceTypeFault } from '../shared/resource-type.ts';
import { sortByResourceOrder } from './rules.ts';

interface Member {
  readonly id: string;
  readonly type: string;
}

/** Checks that the type of each member matches the address of its resource. */
export function checkTypes(given: JsonObject, state: State): readonly Fault[] {
  return readResourceMembers(given).flatMap(({ id, type }, at) => {
    const message = resourceTypeFault(state, id, type);
    return message === undefined ? [] : [{ code: 'resource_type_wrong', path: `/resources/${at}/type`, message }];
  });
}

/**
 * Returns the changes of peers and resources that a request's `resources` ask for. Resources store their groups
 * themselves.
 */
export function deriveResourceChanges(
  { after, given }: ObjectChange<Stored<'Group'>>,
  state: State,
): readonly DerivedChange[] {
  if (after === undefined || given === undefined) return [];
  const members = readResourceMembers(given);
  const ids = (isPeer: boolean) => members.filter(({ type }) => (type === 'peer') === isPeer).map(({ id }) => id);
  const stated = new Set(ids(false));
  return [...addPeers(after, ids(true)), ...storeResourceOrder(after, stated), ...moveResources(after, stated, state)];
}

/** Blank members are `null`. All others have the shape that the input declares. */
function readResourceMembers(given: JsonObject): readonly Member[] {
  return ((given['resources'] ?? []) as readonly (Member | null)[]).flatMap((member) => member ?? []);
}

/** Stores the order of a group's resources. The resources store their membership, only the group stores the order. */
function storeResourceOrder(group: Stored<'Group'>, stated: ReadonlySet<string>): readonly DerivedChange[] {
  const order = [...stated];
  if (isAll(group) || equalJson(order, sortByResourceOrder(group, [...order].sort()))) return [];
  return [{ change: group, derived: { resource_order: order } }];
}

function addPeers(group: Stored<'Group'>, ids: readonly string[]): readonly DerivedChange[] {
  if (isAll(group)) return [];
  const missing = ids.filter((id) => !holdsPeer(group, id));
  if (missing.length === 0) return [];
  const added = missing.map((id) => [id, ['api']] as const);
  return [setPeerOrigins(group, added)];
}

function moveResources(group: Stored<'Group'>, stated: ReadonlySet<string>, state: State): readonly DerivedChange[] {
  const present = state.referrersBy('NetworkResource', 'groups', group.id);
  const leaving = present.filter(({ id }) => !stated.has(id));
  const held = new Set(present.map(({ id }) => id));
  const joining = [...stated].filter((id) => !held.has(id)).flatMap((id) => state.find('NetworkResource', id) ?? []);
  return [
    ...leaving.map((resource) => changeGroups(resource, (groups) => groups.filter((id) => id !== group.id))),
    ...joining.map((resource) => changeGroups(resource, (groups) => [...groups, group.id].sort())),
  ];
}

function changeGroups(
  resource: Stored<'NetworkResource'>,
  change: (groups: readonly string[]) => readonly string[],
): DerivedChange {
  return { change: resource, spec: { ...resource.spec, groups: change(resource.spec.groups ?? []) } };
}
