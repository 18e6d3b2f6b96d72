import type { ActivityStem } from '../../model/declare/activities.ts';
import type { AuditEvent, Fault, State } from '../../model/declare/kind.ts';
import type { Stored } from '../../model/state/stored.ts';
import { isAll } from './membership.ts';

/** Refuses `All` in `auto_groups`: it contains every peer anyway. */
export function checkAutoGroups(object: Stored<'User'> | Stored<'SetupKey'>, state: State): readonly Fault[] {
  return (object.spec.auto_groups ?? []).flatMap((id, at) => {
    const group = state.find('Group', id);
    if (group === undefined || !isAll(group)) return [];
    const message = `every peer is in the group ${group.name} anyway; remove it from \`auto_groups\``;
    return [{ code: 'group_all_assigned', path: `/auto_groups/${at}`, message }];
  });
}

/** Returns one event for each group that was added to or removed from `auto_groups`. */
export function autoGroupEvents(
  stem: ActivityStem<'add', 'delete'>,
  was: readonly string[],
  is: readonly string[],
  state: State,
  meta: Readonly<Record<string, string>>,
): readonly AuditEvent[] {
  const event = (verb: 'add' | 'delete') => (id: string) => ({
    code: `${stem}.${verb}` as const,
    meta: { group: state.get(id)?.name ?? '', group_id: id, ...meta },
  });
  return [
    ...is.filter((id) => !was.includes(id)).map(event('add')),
    ...was.filter((id) => !is.includes(id)).map(event('delete')),
  ];
}
