import { asObjectOrEmpty, type Json, type JsonObject } from '../../../lib/json.ts';
import { providedIndex, providedValue } from '../../../model/declare/provided.ts';
import type { Stored } from '../../../model/state/stored.ts';
import { noChange, type ProvidedGroup } from '../provisioning/change.ts';
import { type ComparisonBudget, createComparisonBudget } from './filter.ts';
import { requiredValueOf, valueMatches, valuesIn } from './match.ts';
import type { Step } from './patch.ts';
import { readResource } from './read-resource.ts';
import { badRequest, ScimRefusal } from './refusal.ts';
import { groupType } from './schema.ts';
import { isPresent } from './users.ts';
import type { Needs, ResourceMapping, View } from './view.ts';

/**
 * Groups as SCIM resources. A change of members is applied member by member: a group of thousands is never sent or
 * written as a whole.
 */
export const groups: ResourceMapping<Stored<'Group'>> = {
  type: groupType,
  isLarge: true,
  find(view, id) {
    const group = view.state.find('Group', id);
    return group !== undefined && isPresent(view, group) ? group : undefined;
  },
  all: (view) => view.state.ofKind('Group').filter((group) => isPresent(view, group)),
  candidates(view, filter) {
    const id = requiredValueOf(groupType, filter, 'id');
    if (id !== undefined) return [this.find(view, id) ?? []].flat();
    const external = requiredValueOf(groupType, filter, 'externalId');
    return external === undefined ? undefined : findByExternalId(view, external);
  },
  render,
  create(view, key, given) {
    const group = groupOf(key, readResource(groupType, given));
    refuseDuplicate(view, group);
    return { ...noChange, groups: [group] };
  },
  replace: (_, { id }, given) => ({
    ...noChange,
    groups: [{ externalId: null, ...groupOf(id, readResource(groupType, given)) }],
  }),
  patch: (view, group, steps) => ({ ...noChange, groups: [applyPatch(view, group, steps)] }),
  remove: ({ id }) => ({ ...noChange, goneGroups: [id] }),
};

function findByExternalId(view: View, value: string): readonly Stored<'Group'>[] {
  const found = view.state.lookUp('Group', providedIndex, providedValue(view.integration, 'id', value));
  return found.filter((group) => isPresent(view, group));
}

/**
 * Throws 409 when the group exists already: a group with the same external id, or one with the same name unless both
 * have different external ids. A directory may have two groups with the same name and different ids.
 */
function refuseDuplicate(view: View, { name = '', externalId }: ProvidedGroup): void {
  const others = view.state.lookUp('Group', 'name', name).filter((group) => isPresent(view, group));
  const twin =
    typeof externalId === 'string'
      ? (findByExternalId(view, externalId)[0] ??
        others.find(({ derived }) => derived.provided?.external_id === undefined))
      : others[0];
  if (twin !== undefined)
    throw new ScimRefusal(409, `the group ${twin.name} already exists, as ${twin.id}`, { scimType: 'uniqueness' });
}

function render(view: View, group: Stored<'Group'>, needs: Needs): JsonObject {
  const { external_id: external } = group.derived.provided ?? {};
  const members = needs('members') ? memberList(view, group) : [];
  return {
    schemas: [groupType.schema],
    id: group.id,
    ...(external === undefined ? {} : { externalId: external }),
    displayName: group.name,
    ...(members.length === 0 ? {} : { members }),
  };
}

function memberList(view: View, { id }: Stored<'Group'>): readonly JsonObject[] {
  return view.state
    .referrersBy('User', 'auto_groups', id)
    .filter((user) => isPresent(view, user))
    .map((user) => ({ value: user.id, $ref: `${view.base}/Users/${user.id}`, display: user.name, type: 'User' }));
}

function groupOf(key: string, resource: JsonObject): ProvidedGroup {
  const { displayName, externalId, members } = resource;
  if (typeof displayName !== 'string' || displayName.trim() === '')
    throw badRequest('invalidValue', '`displayName` is required, and must not be empty');
  return {
    ...{ key, name: displayName },
    ...(typeof externalId === 'string' ? { externalId } : {}),
    ...(members === undefined ? {} : { members: idsIn(members) }),
  };
}

function idsIn(members: Json): readonly string[] {
  return valuesIn(members).map((member) => {
    const { value, type } = asObjectOrEmpty(member);
    if (typeof type === 'string' && type.toLowerCase() === 'group')
      throw badRequest('invalidValue', 'a group cannot be a member of a group here; assign its users');
    if (typeof value !== 'string' || value === '')
      throw badRequest('invalidValue', 'a member needs a `value`: the id of a user');
    return value;
  });
}

/** Returns the changes that the steps make. Members that the steps do not mention are left out. */
function applyPatch(view: View, group: Stored<'Group'>, steps: readonly Step[]): ProvidedGroup {
  const said: { name?: string; externalId?: string | null } = {};
  const change: MemberChange = { added: new Set(), removed: new Set(), comparisons: createComparisonBudget() };
  for (const step of steps) {
    if (step.attribute.name === 'displayName') said.name = requireName(step.value);
    else if (step.attribute.name === 'externalId') said.externalId = typeof step.value === 'string' ? step.value : null;
    else applyMemberStep(view, group, step, change);
  }
  const { completeList, added, removed } = change;
  if (completeList !== undefined) return { key: group.id, ...said, members: [...completeList] };
  return { key: group.id, ...said, addedMembers: [...added], removedMembers: [...removed] };
}

function requireName(value: Json | undefined): string {
  if (typeof value === 'string' && value.trim() !== '') return value;
  throw badRequest('invalidValue', '`displayName` must not be empty');
}

/** Members that join and leave a group. `completeList` is set once a step gives the complete list of members. */
interface MemberChange {
  completeList?: Set<string>;
  readonly added: Set<string>;
  readonly removed: Set<string>;
  readonly comparisons: ComparisonBudget;
}

function applyMemberStep(view: View, group: Stored<'Group'>, step: Step, change: MemberChange): void {
  const { op, value } = step;
  if (op !== 'remove') {
    if (step.filter !== undefined || step.sub !== undefined)
      throw badRequest('mutability', 'the attributes of a member cannot be changed; add or remove members');
    if (op === 'replace') change.completeList = new Set(idsIn(valuesIn(value)));
    else for (const id of idsIn(valuesIn(value))) join(change, id);
    return;
  }
  if (step.sub !== undefined)
    throw badRequest('mutability', 'the attributes of a member cannot be removed; remove the member');
  if (step.filter !== undefined) for (const id of findMatchingMembers(view, group, step, change)) leave(change, id);
  // Taken literally, the RFC ignores the list and leaves the group empty.
  else if (value !== undefined) for (const id of idsIn(valuesIn(value))) leave(change, id);
  else change.completeList = new Set();
}

function join({ completeList, added, removed }: MemberChange, id: string): void {
  completeList?.add(id);
  added.add(id);
  removed.delete(id);
}

function leave({ completeList, added, removed }: MemberChange, id: string): void {
  completeList?.delete(id);
  added.delete(id);
  removed.add(id);
}

/**
 * Returns the ids of the members that a filter matches after the earlier steps of the PATCH. A member named by its id
 * is returned without a scan of all members.
 */
function findMatchingMembers(
  view: View,
  group: Stored<'Group'>,
  { filter, attribute }: Step,
  change: MemberChange,
): readonly string[] {
  if (filter === undefined) return [];
  if (filter.op === 'eq' && filter.path.name.toLowerCase() === 'value') return [String(filter.value)];
  const size = view.state.countReferrers(group.id, 'User', 'auto_groups') + (change.completeList ?? change.added).size;
  change.comparisons.use(filter, size);
  const known = memberList(view, group).filter(
    ({ value }) => change.completeList?.has(String(value)) ?? !change.removed.has(String(value)),
  );
  const ids = new Set([...known.map(({ value }) => String(value)), ...(change.completeList ?? change.added)]);
  const described = new Map(known.map((member) => [String(member['value']), member] as const));
  return [...ids].filter((id) => valueMatches(attribute, filter, described.get(id) ?? { value: id, type: 'User' }));
}
