import { isObject, type Json, type JsonObject } from '../../../lib/json.ts';
import { DirectoryFailure } from './failure.ts';

/** Data of a directory about a user. For a user that is known already it contains at least what changed. */
export interface UserDelta {
  readonly id: string;
  readonly removed: boolean;
  /** Whether the user was removed for good, so that the directory cannot restore it. */
  readonly deleted: boolean;
  /** Values by their names in the directory. `null`: the user has no such value. */
  readonly data: JsonObject;
}

/** Data of a directory about a group. For a group that is known already it contains at least what changed. */
export interface GroupDelta {
  readonly id: string;
  readonly removed: boolean;
  readonly name?: string;
  /** Ids of users who joined. Members of other types, such as groups, are left out. */
  readonly addedMembers: readonly string[];
  readonly removedMembers: readonly string[];
}

const userMembers = ['displayName', 'userPrincipalName', 'mail'] as const;

/** Parses the users of a page. Throws `DirectoryFailure`. */
export function readUsers(values: readonly Json[]): readonly UserDelta[] {
  return values.map((value) => {
    const { id, item } = requireId(value, 'user');
    const texts = userMembers.flatMap((name) => {
      const member = item[name];
      return typeof member === 'string' || member === null ? [[name, member] as const] : [];
    });
    const { accountEnabled: enabled } = item;
    const data = { ...Object.fromEntries(texts), ...(typeof enabled === 'boolean' ? { accountEnabled: enabled } : {}) };
    const { '@removed': removed } = item;
    const deleted = isObject(removed) && removed['reason'] === 'deleted';
    return { id, removed: removed !== undefined, deleted, data };
  });
}

/** Parses the groups of a page. Throws `DirectoryFailure`. */
export function readGroups(values: readonly Json[]): readonly GroupDelta[] {
  return values.map((value) => {
    const { id, item } = requireId(value, 'group');
    const { displayName: name, 'members@delta': listed } = item;
    const members = (Array.isArray(listed) ? listed : []).map((member) => requireId(member, 'member'));
    const users = members.filter(({ item: { '@odata.type': type } }) => isUser(type));
    const idsOf = (removed: boolean) =>
      users.filter(({ item: member }) => '@removed' in member === removed).map((member) => member.id);
    return {
      ...{ id, removed: '@removed' in item, addedMembers: idsOf(false), removedMembers: idsOf(true) },
      ...(typeof name === 'string' ? { name } : {}),
    };
  });
}

/** Returns the ids of the users in a list of members. Throws `DirectoryFailure`. */
export function readUserIds(values: readonly Json[]): readonly string[] {
  return values
    .map((value) => requireId(value, 'member'))
    .filter(({ item: { '@odata.type': type } }) => isUser(type))
    .map(({ id }) => id);
}

function isUser(type: Json | undefined): boolean {
  return type === '#microsoft.graph.user';
}

/** Maximum length of an id. A longer text is not accepted as an id. */
const maxIdLength = 128;

function requireId(value: Json, what: string): { readonly id: string; readonly item: JsonObject } {
  const id = isObject(value) ? value['id'] : undefined;
  if (isObject(value) && typeof id === 'string' && id !== '' && id.length <= maxIdLength) return { id, item: value };
  throw new DirectoryFailure('away', `the directory lists a ${what} without an id`);
}
