import { settingsOf } from '../../commit/account-settings.ts';
import { storedObject } from '../../commit/bootstrap.ts';
import { planEdits } from '../../commit/edits.ts';
import type { Call, Engine } from '../../commit/engine.ts';
import type { AuditEvent } from '../../model/declare/kind.ts';
import { canonicalSpec } from '../../model/schema/normalize.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import { asKind, type Stored } from '../../model/state/stored.ts';
import { errorForProblems } from '../../objects/objects.ts';
import type { Edit } from '../../plan/finish.ts';
import type { Plan } from '../../plan/plan.ts';

/** Value of `issued` for groups that an identity provider names in tokens. */
const issued = 'jwt';

/**
 * Returns whether a user has the provided groups of all these names, and no other provided group except those that
 * documents give to the user.
 */
export function hasProvidedGroups(state: Snapshot, user: Stored<'User'>, names: readonly string[]): boolean {
  const present = new Set(providedOf(state, user).map(({ name }) => name));
  return names.every((name) => present.delete(name)) && [...present].every((name) => isStated(user, state, name));
}

/**
 * Gives a user the groups that the identity provider names, and takes away provided groups that it no longer names.
 * Creates missing groups. Keeps groups that people or documents gave to the user.
 */
export async function provideGroups(engine: Engine, call: Call, names: readonly string[]): Promise<Call> {
  const { account, actor, revision } = call;
  let before: Snapshot | undefined;
  const committed = await engine.committer.mutate({
    account,
    actor,
    revision,
    propose: (state) => {
      before = state;
      return planEdits(engine, state, editsFor(engine, state, actor.id, names));
    },
    extraEvents: (made) => (before === undefined ? [] : groupEvents(before, made, actor.id)),
  });
  if (!committed.ok) throw errorForProblems(committed.problems);
  return { ...call, revision: committed.revision ?? revision };
}

function editsFor(engine: Engine, state: Snapshot, id: string, names: readonly string[]): readonly Edit[] {
  const user = state.find('User', id);
  if (user === undefined || hasProvidedGroups(state, user, names)) return [];
  const known = new Map(
    state.ofKind('Group').flatMap((group) => (isProvided(group) ? [[group.name, group.id] as const] : [])),
  );
  const made = names.filter((name) => !known.has(name)).map((name) => newGroup(engine, name));
  for (const { id: group, name } of made) known.set(name, group);
  const kept = groupsOf(user).filter((group) => {
    const object = state.find('Group', group);
    return object === undefined || !isProvided(object) || isStated(user, state, object.name);
  });
  const provided = names.flatMap((name) => known.get(name) ?? []);
  const spec = { ...user.spec, auto_groups: [...new Set([...kept, ...provided])] };
  const canonical = canonicalSpec(engine.registry.get(user.kind), spec).spec;
  const after = { ...user, spec: canonical, updatedAt: engine.now() };
  return [...made.map((group): Edit => ({ after: group })), { before: user, after, internal: true }];
}

function newGroup(engine: Engine, name: string): Stored<'Group'> {
  const { spec } = canonicalSpec(engine.registry.get('Group'), { name });
  const object = { id: engine.newId(), kind: 'Group', spec, derived: { issued } };
  return asKind(storedObject(engine, object, engine.now()), 'Group');
}

function providedOf(state: Snapshot, user: Stored<'User'>): readonly Stored<'Group'>[] {
  return groupsOf(user).flatMap((id) => {
    const group = state.find('Group', id);
    return group !== undefined && isProvided(group) ? [group] : [];
  });
}

function isProvided(group: Stored<'Group'>): boolean {
  return group.derived.issued === issued;
}

function groupsOf({ spec }: Stored<'User'>): readonly string[] {
  return spec.auto_groups ?? [];
}

/** Whether documents give the user the group of this name. Then only documents take it away. */
function isStated(user: Stored<'User'>, state: Snapshot, name: string): boolean {
  return user.declared.some(({ stated }) => {
    const groups = stated['auto_groups'];
    return Array.isArray(groups) && groups.some((id) => state.get(String(id))?.name === name);
  });
}

/**
 * The kind `User` writes events about groups only while groups propagate to the user's peers. This function writes the
 * events in the other case.
 */
function groupEvents(state: Snapshot, { changes }: Plan, user: string): readonly AuditEvent[] {
  if (settingsOf(state).groups_propagation_enabled === true) return [];
  const change = changes.find(({ after }) => after?.id === user);
  const names = new Map(changes.flatMap(({ after }) => (after === undefined ? [] : [[after.id, after.name] as const])));
  return (change?.units ?? []).flatMap(({ path, after }) => {
    const [, group] = /^auto_groups\[(.*)\]$/.exec(path) ?? [];
    if (group === undefined) return [];
    const about = { is_service_user: 'false', user_name: change?.after?.name ?? '' };
    const meta = { group: names.get(group) ?? state.get(group)?.name ?? '', group_id: group, ...about };
    return [{ code: `user.group.${after === undefined ? 'delete' : 'add'}`, target: user, meta }];
  });
}
