import { forEachInSteps } from '../../../lib/steps.ts';
import { ownedTenant } from '../../../model/declare/owner-groups.ts';
import type { Provided } from '../../../model/declare/provided.ts';
import { maxLengths } from '../../../model/schema/field.ts';
import { isOfKind, type Stored } from '../../../model/state/stored.ts';
import type { ProvidedGroup } from './change.ts';
import type { PlanningState } from './work.ts';

/** Imports a group without its members. Returns whether the group is imported. */
export function importGroup(work: PlanningState, given: ProvidedGroup): boolean {
  const { groups, integration } = work;
  const present = groups.find(given.key);
  const name = (given.name ?? present?.name ?? '').trim();
  if (name === '' || name.length > maxLengths.name) {
    const what =
      name === '' ? 'has no name' : `has a name of ${name.length} characters; the maximum is ${maxLengths.name}`;
    work.addFinding('name_unusable', given.key, `the group ${given.key} ${what}`);
    return present !== undefined;
  }
  if (!hasAnyPrefix(name, integration.groupPrefixes)) {
    if (present !== undefined) dropGroup(work, present);
    return false;
  }
  const group = present ?? findAbandonedGroup(work, given.key, name);
  const id = group?.id ?? (work.keys === 'objects' ? given.key : work.newId());
  groups.put(id, {
    ...{ spec: { ...group?.spec, name }, provided: buildProvided(work, given, group) },
    derived: { issued: 'integration' },
  });
  work.ids.set(given.key, id);
  return true;
}

/** Whether a name begins with one of the prefixes. True when there are no prefixes. */
export function hasAnyPrefix(name: string, prefixes: readonly string[]): boolean {
  return prefixes.length === 0 || prefixes.some((prefix) => name.startsWith(prefix));
}

/**
 * Returns a group of this name whose integration is gone, or that the provider did not have for a while. Policies may
 * still refer to it. A group whose users are owners of a tenant stays with its integration: an admin may have created
 * the other one, and cannot grant that right.
 */
function findAbandonedGroup(work: PlanningState, key: string, name: string): Stored<'Group'> | undefined {
  const { state, groups, integration } = work;
  return state
    .lookUp('Group', 'name', name)
    .flatMap(({ id }) => groups.get(id) ?? [])
    .find(({ id, derived: { provided } }) => {
      if (provided === undefined) return false;
      if (provided.by === integration.id) return provided.removed_since !== undefined;
      if (state.get(provided.by) !== undefined) return false;
      const tenant = ownedTenant(state, [id]);
      if (tenant === undefined) return true;
      const message = `the group ${name} of a deleted integration makes its users owners of the tenant ${tenant}, so this integration gets a new group of that name; an owner can name the new group in the tenant`;
      work.addFinding('group_not_adopted', key, message);
      return false;
    });
}

function buildProvided(work: PlanningState, given: ProvidedGroup, group: Stored<'Group'> | undefined): Provided {
  const own = group?.derived.provided?.by === work.integration.id ? group.derived.provided : undefined;
  const { removed_since: _, external_id: known, ...rest } = own ?? {};
  const id = work.keys === 'external' ? given.key : given.externalId === undefined ? known : given.externalId;
  return {
    ...rest,
    by: work.integration.id,
    ...(typeof id === 'string' ? { external_id: id } : {}),
    ...(given.facts === undefined ? {} : { facts: given.facts }),
  };
}

/** Adds users to a group and removes users from it, as the provider states. */
export function* applyMemberChanges(work: PlanningState, given: ProvidedGroup): Generator<undefined, void> {
  const group = work.groups.find(given.key);
  if (group === undefined) return;
  const joined = resolveMemberIds(work, given.key, given.members ?? given.addedMembers ?? []);
  yield* forEachInSteps(joined, (id) => join(work, group.id, id));
  const left =
    given.members === undefined
      ? knownUserIds(work, given.removedMembers ?? [])
      : otherMemberIds(work, group.id, joined);
  yield* forEachInSteps(left, (id) => leave(work, group.id, id));
}

/** Returns the ids of users by their keys. Users that were not imported are left out and reported. */
function resolveMemberIds(work: PlanningState, group: string, keys: readonly string[]): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const key of keys) {
    const user = work.users.find(key);
    if (user !== undefined && user.derived.provided?.removed_since === undefined) ids.add(user.id);
    else
      work.addFinding(
        'member_unknown',
        group,
        `the group ${group} names a member ${key}, which is not an imported user`,
      );
  }
  return ids;
}

/**
 * Returns the ids of the users that exist. A user that does not exist is in no group, so a removal that is late or
 * repeated has nothing to do.
 */
function knownUserIds({ users }: PlanningState, keys: readonly string[]): readonly string[] {
  return keys.flatMap((key) => users.find(key)?.id ?? []);
}

function otherMemberIds(work: PlanningState, group: string, members: ReadonlySet<string>): readonly string[] {
  return work.state
    .referrersBy('User', 'auto_groups', group)
    .map(({ id }) => id)
    .filter((id) => !members.has(id));
}

function join(work: PlanningState, group: string, user: string): void {
  if ((work.users.get(user)?.spec.auto_groups ?? []).includes(group)) return;
  setGroups(work, user, (groups) => [...groups, group]);
  work.joining.set(group, (work.joining.get(group) ?? 0) + 1);
}

function leave(work: PlanningState, group: string, user: string): void {
  const isMember = (work.users.get(user)?.spec.auto_groups ?? []).includes(group);
  if (!isMember) return;
  setGroups(work, user, (groups) => groups.filter((id) => id !== group));
  work.leaving.set(group, (work.leaving.get(group) ?? new Set()).add(user));
}

function setGroups(work: PlanningState, id: string, change: (groups: readonly string[]) => readonly string[]): void {
  const user = work.users.get(id);
  if (user === undefined) return;
  work.users.put(id, { spec: { ...user.spec, auto_groups: change(user.spec.auto_groups ?? []) } });
}

/**
 * Records how many users left each group, less the users who joined, for the guard that counts the removals of an hour.
 */
export function recordLeavers(work: PlanningState, leaving: ReadonlyMap<string, readonly string[]>): void {
  for (const id of new Set([...leaving.keys(), ...work.joining.keys()])) {
    const group = work.groups.get(id);
    const provided = group?.derived.provided;
    if (group === undefined || provided === undefined) continue;
    const { left, ...others } = provided;
    const isCounting = left !== undefined && left.since > work.countedSince;
    const gone = leaving.get(id)?.length ?? 0;
    if (gone === 0 && !isCounting) continue;
    const { since, count } = isCounting ? left : { since: work.now, count: 0 };
    const total = count + gone - (work.joining.get(id) ?? 0);
    const counted = work.isApproved || total <= 0 ? {} : { left: { since, count: total } };
    work.groups.put(id, { spec: group.spec, provided: { ...others, ...counted } });
  }
}

/**
 * Removes the users from a group that the provider does not have any more, and deletes the group. While anything refers
 * to the group, it is kept without users instead.
 */
export function dropGroup(work: PlanningState, group: Stored<'Group'>): void {
  const { provided } = group.derived;
  if (provided === undefined) return;
  const members = work.state.referrersBy('User', 'auto_groups', group.id).map(({ id }) => id);
  for (const id of members) leave(work, group.id, id);
  const uses = work.state
    .referrersOf(group.id)
    .filter(({ from, field }) => !(isOfKind(from, 'User') && field === 'auto_groups'))
    .map(({ from }) => `${from.kind} ${from.name}`);
  const used = [...uses, ...(work.usedByInvites.get(group.id) ?? [])];
  const isKept =
    used.length > 0 || group.declared.length > 0 || group.protected || (group.members?.['peers']?.size ?? 0) > 0;
  if (!isKept) {
    work.groups.remove(group.id);
    return;
  }
  const since = provided.removed_since ?? work.now;
  work.groups.put(group.id, { spec: group.spec, provided: { ...provided, removed_since: since } });
  if (provided.removed_since !== undefined || used.length === 0) return;
  const message = `the identity provider no longer has the group ${group.name}; it has no users now, and stays because it is used by ${used.slice(0, 10).join(', ')}`;
  work.addFinding('still_used', provided.external_id ?? group.id, message);
}
