import type { JsonObject } from '../../../lib/json.ts';
import { forEachInSteps } from '../../../lib/steps.ts';
import type { StoredObject } from '../../../model/state/object.ts';
import type { Stored } from '../../../model/state/stored.ts';
import type { Edit } from '../../../plan/finish.ts';
import { managedProblems, managedUnitChanges } from '../../../plan/requests/managed.ts';
import type { Finding, ProvidedGroup, ProvisioningChange } from './change.ts';
import type { Draft, Drafts, ProvidedKind } from './drafts.ts';
import { applyMemberChanges, dropGroup, hasAnyPrefix, importGroup, recordLeavers } from './groups.ts';
import { assignUser, dropUser, importUser, markUserDeleted } from './users.ts';
import { createPlanningState, type PlanningState, type ProvisioningInput } from './work.ts';

/** Removals that a change makes. */
export interface Removals {
  /** Ids of users whom the change keeps out. */
  readonly users: readonly string[];
  /**
   * Ids of groups that the provider does not have any more, whether they are deleted or kept because something refers
   * to them.
   */
  readonly groups: readonly string[];
  /** Ids of users who leave a group although they are not kept out, by id of the group. */
  readonly members: ReadonlyMap<string, readonly string[]>;
}

/** Effect of a change on the account. */
export interface ProvisioningEffect {
  readonly edits: readonly Edit[];
  readonly removals: Removals;
  /** Data that could not be imported. */
  readonly findings: readonly Finding[];
  /** Ids of users and groups, by the keys under which they were imported. */
  readonly ids: ReadonlyMap<string, string>;
  /** Keys of users and groups that the prefixes of the integration exclude. */
  readonly outside: { readonly users: readonly string[]; readonly groups: readonly string[] };
}

/**
 * Plans the effect of an identity provider's data on an account, yielding now and then. The cost depends on the size of
 * the change, unless the provider names everything that it has.
 */
export function* planProvisioningInSteps(input: ProvisioningInput): Generator<undefined, ProvisioningEffect> {
  const { change } = input;
  const work = createPlanningState(input);
  const isTaken = new Map<ProvidedGroup, boolean>();
  yield* forEachInSteps(change.groups, (group) => isTaken.set(group, importGroup(work, group)));
  const outside = yield* importUsers(work, change);
  for (const [group, isIn] of isTaken) if (isIn) yield* applyMemberChanges(work, group);
  yield* forEachInSteps(change.goneUsers, (key) => drop(work, work.users, key, dropUser));
  yield* markUsersDeleted(work, change.deletedUsers ?? []);
  yield* forEachInSteps(change.goneGroups, (key) => drop(work, work.groups, key, dropGroup));
  if (change.isComplete) yield* dropUnnamed(work, change);
  else if (change.keys === 'external') yield* dropUsersOutOfScope(work, change);
  else yield* assignUsers(work, change);
  return {
    ...collectEffect(work),
    ids: work.ids,
    outside: { users: outside, groups: [...isTaken].flatMap(([{ key }, isIn]) => (isIn ? [] : [key])) },
  };
}

/** Imports the users in scope. Returns the keys of the others. */
function* importUsers(work: PlanningState, change: ProvisioningChange): Generator<undefined, readonly string[]> {
  const { userGroupPrefixes: prefixes } = work.integration;
  const named = new Set(
    change.groups
      .filter(
        ({ key, name = work.groups.find(key)?.name ?? '' }) => prefixes.length > 0 && hasAnyPrefix(name, prefixes),
      )
      .flatMap(({ members, addedMembers }) => members ?? addedMembers ?? []),
  );
  const outside: string[] = [];
  yield* forEachInSteps(change.users, (user) => {
    const present = work.users.find(user.key);
    const isKnown = present !== undefined && present.derived.provided?.removed_since === undefined;
    // A provider that pushes users sends them before its groups, and only once.
    const isIn = prefixes.length === 0 || named.has(user.key) || change.keys === 'objects';
    if (isIn || (isKnown && !change.isComplete)) importUser(work, user);
    else outside.push(user.key);
  });
  return outside;
}

/** Calls `end` for an object that the provider reports as gone. */
function drop<K extends ProvidedKind>(
  work: PlanningState,
  drafts: Drafts<K>,
  key: string,
  end: (work: PlanningState, object: Stored<K>) => void,
): void {
  const present = drafts.find(key);
  // An object that was never imported is ignored.
  if (present !== undefined) end(work, present);
}

/**
 * Ends the users that the provider deleted for good, except a user who is linked to another person of the provider by
 * now.
 */
function* markUsersDeleted(work: PlanningState, keys: readonly string[]): Generator<undefined, void> {
  const taken = new Set(work.ids.values());
  yield* forEachInSteps(keys, (key) => {
    const user = work.users.find(key);
    if (user !== undefined && !taken.has(user.id)) markUserDeleted(work, user);
  });
}

/** Drops the users and groups of the integration that are not in the provider's complete data any more. */
function* dropUnnamed(work: PlanningState, change: ProvisioningChange): Generator<undefined, void> {
  const { state, integration, users, groups } = work;
  const named = new Set(
    [...change.users, ...change.groups].flatMap(({ key }) => users.find(key)?.id ?? groups.find(key)?.id ?? []),
  );
  const isOurs = ({ id, derived }: Stored<'User'> | Stored<'Group'>) =>
    derived.provided?.by === integration.id && !named.has(id);
  yield* forEachInSteps(state.ofKind('User').filter(isOurs), ({ id }) => dropOne(work, users.get(id), dropUser));
  yield* forEachInSteps(state.ofKind('Group').filter(isOurs), ({ id }) => dropOne(work, groups.get(id), dropGroup));
}

function dropOne<O>(work: PlanningState, object: O | undefined, end: (work: PlanningState, object: O) => void): void {
  if (object !== undefined) end(work, object);
}

/** Drops the users who left the last group whose prefix put them in scope. */
function* dropUsersOutOfScope(work: PlanningState, change: ProvisioningChange): Generator<undefined, void> {
  const { userGroupPrefixes: prefixes } = work.integration;
  if (prefixes.length === 0) return;
  const named = new Set(change.users.map(({ key }) => work.users.find(key)?.id));
  yield* forEachInSteps(new Set([...work.leaving.values()].flatMap((users) => [...users])), (id) => {
    const user = work.users.get(id);
    if (user === undefined || named.has(id)) return;
    const isIn = (user.spec.auto_groups ?? []).some(
      (group) => work.isOfProvider(group) && hasAnyPrefix(work.groups.get(group)?.name ?? '', prefixes),
    );
    if (!isIn) dropUser(work, user);
  });
}

/** Keeps out pushed users who are in no group whose users are imported, and lets in those who are. */
function* assignUsers(work: PlanningState, change: ProvisioningChange): Generator<undefined, void> {
  const { userGroupPrefixes: prefixes } = work.integration;
  const isIn = (user: Stored<'User'>) =>
    prefixes.length === 0 ||
    (user.spec.auto_groups ?? []).some(
      (id) => work.isOfProvider(id) && hasAnyPrefix(work.groups.get(id)?.name ?? '', prefixes),
    );
  const ids = [...touchedUsers(work), ...work.ids.values(), ...membersOfRenamedGroups(work, change, prefixes)];
  yield* forEachInSteps(ids, (id) => {
    const user = work.users.get(id);
    const provided = user?.derived.provided;
    if (user === undefined || provided?.by !== work.integration.id || provided.removed_since !== undefined) return;
    assignUser(work, user, isIn(user));
  });
}

function touchedUsers({ users }: PlanningState): readonly string[] {
  return users.changed().flatMap(({ after }) => after?.id ?? []);
}

/** Returns the members of groups whose names gained or lost a prefix. */
function membersOfRenamedGroups(
  { state, groups }: PlanningState,
  change: ProvisioningChange,
  prefixes: readonly string[],
): readonly string[] {
  const renamed = change.groups.flatMap(({ key }) => {
    const [before, after] = [state.find('Group', key), groups.find(key)];
    const isChanged = before && after && hasAnyPrefix(before.name, prefixes) !== hasAnyPrefix(after.name, prefixes);
    return isChanged === true ? [key] : [];
  });
  return renamed.flatMap((id) => state.referrersBy('User', 'auto_groups', id).map((user) => user.id));
}

function collectEffect(work: PlanningState): Pick<ProvisioningEffect, 'edits' | 'removals' | 'findings'> {
  const users = keepManagedFields(work, work.users);
  const blocked = users.filter(
    ({ before, after }) => before?.spec.is_blocked === false && after?.spec.is_blocked === true,
  );
  const out = new Set(blocked.flatMap(({ before }) => before?.id ?? []));
  const left = [...work.leaving].map(([group, ids]) => [group, [...ids].filter((id) => !out.has(id))] as const);
  const members = new Map(left.filter(([, ids]) => ids.length > 0));
  recordLeavers(work, members);
  const groups = keepManagedFields(work, work.groups);
  return {
    edits: [...users, ...groups].map(editOf),
    removals: {
      users: [...out],
      groups: groups.flatMap(({ before, after }) => (before !== undefined && isGone(before, after) ? [before.id] : [])),
      members,
    },
    findings: work.findings,
  };
}

/**
 * Whether a group is deleted, or kept only because something refers to it although the provider does not have it any
 * more.
 */
function isGone(before: Stored<'Group'>, after: Stored<'Group'> | undefined): boolean {
  if (after === undefined) return true;
  return after.derived.provided?.removed_since !== undefined && before.derived.provided?.removed_since === undefined;
}

/**
 * Returns the drafts that the documents of sources allow: a field that a source manages keeps its value, and everything
 * else is imported.
 */
function keepManagedFields<K extends ProvidedKind>(work: PlanningState, drafts: Drafts<K>): readonly Draft<K>[] {
  const { state } = work;
  for (const { before, after } of drafts.changed()) {
    if (before === undefined || after === undefined || before.declared.length === 0) continue;
    const kind = state.registry.get(before.kind);
    const problems = managedProblems(state, kind, before, managedUnitChanges(state, kind, before, after));
    const key = after.derived.provided?.external_id ?? before.id;
    for (const { message } of problems) work.addFinding('managed_field', key, message);
    const held = new Set(problems.map(({ path = '' }) => path.slice(1)));
    if (held.size > 0) drafts.put(before.id, { spec: withFields(after.spec, before.spec, held) });
  }
  return drafts.changed();
}

/** Returns `spec` with the named fields taken from `from`. */
function withFields(spec: JsonObject, from: JsonObject, names: ReadonlySet<string>): JsonObject {
  const kept = Object.entries(from).filter(([name]) => names.has(name));
  return {
    ...Object.fromEntries(Object.entries(spec).filter(([name]) => !names.has(name))),
    ...Object.fromEntries(kept),
  };
}

/** Returns an edit of the server. Rules that forbid users to change what a provider brought do not apply to it. */
function editOf({ before, after }: { readonly before?: StoredObject; readonly after?: StoredObject }): Edit {
  return {
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
    internal: true,
  };
}
