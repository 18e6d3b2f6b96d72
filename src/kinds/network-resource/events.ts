import type { ActivityCode } from '../../model/declare/activities.ts';
import type { AuditEvent, State } from '../../model/declare/kind.ts';
import type { Stored } from '../../model/state/stored.ts';
import { resourceTypeOf } from '../shared/resource-type.ts';

/** Returns the metadata of events about a resource. */
export function resourceMeta(resource: Stored<'NetworkResource'>, state: State): Readonly<Record<string, string>> {
  const network = resource.parent ?? '';
  return {
    name: resource.name,
    type: resourceTypeOf(resource.spec.address ?? ''),
    network_name: state.get(network)?.name ?? '',
    network_id: network,
  };
}

/** Returns one event for each group that a new resource joins. */
export function createdEvents(after: Stored<'NetworkResource'>, state: State): readonly AuditEvent[] {
  return groupEvents('resource.group.add', after, after.spec.groups ?? [], state);
}

/** Returns an event for the update, and one for each group that gained or lost the resource. */
export function updatedEvents(
  before: Stored<'NetworkResource'>,
  after: Stored<'NetworkResource'>,
  state: State,
): readonly AuditEvent[] {
  const [was, is] = [before.spec.groups ?? [], after.spec.groups ?? []];
  const joined = is.filter((id) => !was.includes(id));
  const left = was.filter((id) => !is.includes(id));
  return [
    { code: 'network.resource.update', meta: resourceMeta(after, state) },
    ...groupEvents('resource.group.add', after, joined, state),
    ...groupEvents('resource.group.delete', after, left, state),
  ];
}

/** Returns one event for each group that loses the resource. */
export function deletedEvents(before: Stored<'NetworkResource'>, state: State): readonly AuditEvent[] {
  return groupEvents('resource.group.delete', before, before.spec.groups ?? [], state);
}

/** The target of the events is the group, because its list of resources changed. */
function groupEvents(
  code: ActivityCode,
  resource: Stored<'NetworkResource'>,
  groups: readonly string[],
  state: State,
): readonly AuditEvent[] {
  const meta = { ...resourceMeta(resource, state), resource_name: resource.name, resource_id: resource.id };
  return groups.map((id) => ({ code, target: id, meta: { ...meta, group: state.get(id)?.name ?? '', group_id: id } }));
}
