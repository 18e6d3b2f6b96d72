import type { AuditEvent, Fault, State } from '../../model/kind.ts';
import type { StoredObject } from '../../model/object.ts';
import { isAll } from './membership.ts';
import { textsOf } from './stored.ts';

/** Every peer is in `All` anyway, so nobody assigns it. */
export function checkAutoGroups(object: StoredObject, state: State): readonly Fault[] {
  return textsOf(object, 'auto_groups').flatMap((id, at) => {
    const group = state.get(id);
    if (group === undefined || !isAll(group)) return [];
    const message = `every peer is in the group ${group.name} anyway; take it out of \`auto_groups\``;
    return [{ code: 'group_all_assigned', path: `/auto_groups/${at}`, message }];
  });
}

/** One event for each group that came to or went from `auto_groups`. */
export function autoGroupEvents(
  code: string,
  was: readonly string[],
  is: readonly string[],
  state: State,
  meta: Readonly<Record<string, string>>,
): readonly AuditEvent[] {
  const event = (verb: string) => (id: string) => ({
    code: `${code}.${verb}`,
    meta: { group: state.get(id)?.name ?? '', group_id: id, ...meta },
  });
  return [
    ...is.filter((id) => !was.includes(id)).map(event('add')),
    ...was.filter((id) => !is.includes(id)).map(event('delete')),
  ];
}
