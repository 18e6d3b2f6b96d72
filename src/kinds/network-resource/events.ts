import type { AuditEvent, State } from '../../model/kind.ts';
import type { StoredObject } from '../../model/object.ts';
import { resourceTypeOf } from '../shared/resource-type.ts';
import { textOf, textsOf } from '../shared/stored.ts';

/** What events say about a resource. */
export function resourceMeta(resource: StoredObject, state: State): Readonly<Record<string, string>> {
  const network = resource.parent ?? '';
  return {
    name: resource.name,
    type: resourceTypeOf(textOf(resource, 'address')),
    network_name: state.get(network)?.name ?? '',
    network_id: network,
  };
}

/** One event for each group that a new resource joins. */
export function createdEvents(after: StoredObject, state: State): readonly AuditEvent[] {
  return groupEvents('resource.group.add', after, textsOf(after, 'groups'), state);
}

/** The change itself, and one event for each group that gained or lost the resource. */
export function updatedEvents(before: StoredObject, after: StoredObject, state: State): readonly AuditEvent[] {
  const [was, is] = [textsOf(before, 'groups'), textsOf(after, 'groups')];
  const joined = is.filter((id) => !was.includes(id));
  const left = was.filter((id) => !is.includes(id));
  return [
    { code: 'network.resource.update', meta: resourceMeta(after, state) },
    ...groupEvents('resource.group.add', after, joined, state),
    ...groupEvents('resource.group.delete', after, left, state),
  ];
}

/** One event for each group that loses the resource. */
export function deletedEvents(before: StoredObject, state: State): readonly AuditEvent[] {
  return groupEvents('resource.group.delete', before, textsOf(before, 'groups'), state);
}

/** The group is the target: its list of resources is what changed. */
function groupEvents(
  code: string,
  resource: StoredObject,
  groups: readonly string[],
  state: State,
): readonly AuditEvent[] {
  const meta = { ...resourceMeta(resource, state), resource_name: resource.name, resource_id: resource.id };
  return groups.map((id) => ({ code, target: id, meta: { ...meta, group: state.get(id)?.name ?? '', group_id: id } }));
}
