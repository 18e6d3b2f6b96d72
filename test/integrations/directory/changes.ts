import type { JsonObject } from '../../../src/lib/json.ts';

/** A user as the directory stores it. */
export interface DirectoryUser {
  readonly displayName: string;
  readonly userPrincipalName: string;
  readonly mail: string | null;
  readonly accountEnabled: boolean;
}

interface Member {
  readonly id: string;
  readonly type: 'user' | 'group' | 'device';
}

interface Group {
  displayName: string;
  readonly members: Map<string, Member>;
}

/** An entry in the log of a directory: new values of a user or a group, or a change of one member of a group. */
type Change =
  | { readonly list: 'users' | 'groups'; readonly id: string; readonly said: JsonObject }
  | { readonly list: 'groups'; readonly id: string; readonly member: JsonObject };

/** Contents of a simulated directory, and the log of its changes. */
export interface Directory {
  readonly users: ReadonlyMap<string, DirectoryUser>;
  readonly groups: ReadonlyMap<string, Group>;
  /** Number of changes in the log so far; serves as the moment for `since`. */
  readonly now: number;
  putUser(id: string, user?: Partial<DirectoryUser>): void;
  /**
   * Removes a user: with the reason `changed` the user can still be restored, with `deleted` the removal is permanent.
   */
  removeUser(id: string, reason?: 'changed' | 'deleted'): void;
  putGroup(id: string, displayName: string, members?: readonly (string | Member)[]): void;
  removeGroup(id: string): void;
  join(group: string, ...members: readonly (string | Member)[]): void;
  leave(group: string, ...members: readonly string[]): void;
  /** Removes all users and groups without an entry in the log of changes. */
  clear(): void;
  /**
   * Returns the items of a list that changed since a moment: new items with all their values, others with the changed
   * values only. Without a moment, returns all items of the list.
   */
  since(list: 'users' | 'groups', moment?: number): readonly JsonObject[];
}

/** Creates an empty directory. */
export function createDirectory(): Directory {
  const users = new Map<string, DirectoryUser>();
  const groups = new Map<string, Group>();
  const log: Change[] = [];
  const asMember = (member: string | Member): Member =>
    typeof member === 'string' ? { id: member, type: 'user' } : member;
  const join = (group: string, ...members: readonly (string | Member)[]): void => {
    for (const member of members.map(asMember)) {
      groups.get(group)?.members.set(member.id, member);
      log.push({ list: 'groups', id: group, member: shown(member) });
    }
  };
  return {
    ...{ users, groups, join },
    get now() {
      return log.length;
    },
    putUser(id, given = {}) {
      const before = users.get(id);
      const name = given.displayName ?? before?.displayName ?? id;
      const made = { displayName: name, userPrincipalName: `${id}@corp.example.com`, mail: null, accountEnabled: true };
      users.set(id, { ...made, ...before, ...given });
      log.push({ list: 'users', id, said: { ...(before === undefined ? users.get(id) : given) } });
    },
    removeUser(id, reason = 'changed') {
      users.delete(id);
      log.push({ list: 'users', id, said: { '@removed': { reason } } });
    },
    putGroup(id, displayName, members = []) {
      const group = groups.get(id) ?? { displayName, members: new Map() };
      group.displayName = displayName;
      groups.set(id, group);
      log.push({ list: 'groups', id, said: { displayName } });
      join(id, ...members);
    },
    removeGroup(id) {
      groups.delete(id);
      log.push({ list: 'groups', id, said: { '@removed': { reason: 'deleted' } } });
    },
    leave(group, ...members) {
      for (const id of members) {
        const member = groups.get(group)?.members.get(id) ?? { id, type: 'user' as const };
        groups.get(group)?.members.delete(id);
        log.push({ list: 'groups', id: group, member: { ...shown(member), '@removed': { reason: 'deleted' } } });
      }
    },
    clear() {
      users.clear();
      groups.clear();
    },
    since(list, moment) {
      if (moment !== undefined) return merged(log.slice(moment).filter((change) => change.list === list));
      if (list === 'users') return [...users].map(([id, user]) => ({ id, ...user }));
      return [...groups].map(([id, { displayName, members }]) => {
        const listed = [...members.values()].map(shown);
        return { id, displayName, ...(listed.length === 0 ? {} : { 'members@delta': listed }) };
      });
    },
  };
}

/** Returns a member in the form that lists show. */
export function shown({ id, type }: { readonly id: string; readonly type: string }): JsonObject {
  return { '@odata.type': `#microsoft.graph.${type}`, id };
}

/** Merges changes into one item per object, with the latest entry for each of its members. */
function merged(changes: readonly Change[]): readonly JsonObject[] {
  return [...Map.groupBy(changes, ({ id }) => id)].map(([id, own]) => {
    const said = own.flatMap((change) => ('said' in change ? [change.said] : []));
    const last = said.at(-1);
    if (last !== undefined && '@removed' in last) return { id, ...last };
    const { '@removed': _, ...values } = Object.assign({}, ...said);
    const members = new Map(
      own.flatMap((change) => ('member' in change ? [[String(change.member['id']), change.member] as const] : [])),
    );
    const listed = members.size === 0 ? {} : { 'members@delta': [...members.values()] };
    return { id, ...values, ...listed };
  });
}
