import { type Json, type JsonObject, membersOf } from '../../../lib/json.ts';
import { providedIndex, providedValue } from '../../../model/declare/provided.ts';
import type { Stored } from '../../../model/state/stored.ts';
import { noChange, type ProvidedGroup } from '../provisioning/change.ts';
import { type Comparisons, createComparisons } from './filter.ts';
import { equalityIn, valueMatches, valuesIn } from './match.ts';
import type { Step } from './patch.ts';
import { readResource } from './read-resource.ts';
import { ScimRefusal, wrong } from './refusal.ts';
import { groupType } from './schema.ts';
import { isPresent } from './users.ts';
import type { Needs, Resources, View } from './view.ts';

/**
 * Groups as SCIM resources. A change of members is applied member by member: a group of thousands is never sent or
 * written as a whole.
 */
export const groups: Resources<Stored<'Group'>> = {
  type: groupType,
  isLarge: true,
  find(view, id) {
    const group = view.state.find('Group', id);
    return group !== undefined && isPresent(view, group) ? group : undefined;
  },
  all: (view) => view.state.ofKind('Group').filter((group) => isPresent(view, group)),
  candidates(view, filter) {
    const id = equalityIn(groupType, filter, 'id');
    if (id !== undefined) return [this.find(view, id) ?? []].flat();
    const external = equalityIn(groupType, filter, 'externalId');
    return external === undefined ? undefined : indexed(view, external);
  },
  render,
  create(view, key, given) {
    const group = groupOf(key, readResource(groupType, given));
    refuseTwin(view, group);
    return { ...noChange, groups: [group] };
  },
  replace: (_, { id }, given) => ({
    ...noChange,
    groups: [{ externalId: null, ...groupOf(id, readResource(groupType, given)) }],
  }),
  patch: (view, group, steps) => ({ ...noChange, groups: [patched(view, group, steps)] }),
  remove: ({ id }) => ({ ...noChange, goneGroups: [id] }),
};

function indexed(view: View, value: string): readonly Stored<'Group'>[] {
  const found = view.state.lookUp('Group', providedIndex, providedValue(view.integration, 'id', value));
  return found.filter((group) => isPresent(view, group));
}

/**
 * Throws 409 when the group exists already: a group with the same external id, or one with the same name unless both
 * have different external ids. A directory may have two groups with the same name and different ids.
 */
function refuseTwin(view: View, { name = '', externalId }: ProvidedGroup): void {
  const others = view.state.lookUp('Group', 'name', name).filter((group) => isPresent(view, group));
  const twin =
    typeof externalId === 'string'
      ? (indexed(view, externalId)[0] ?? others.find(({ derived }) => derived.provided?.external_id === undefined))
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
    throw wrong('invalidValue', '`displayName` is required, and must not be empty');
  return {
    ...{ key, name: displayName },
    ...(typeof externalId === 'string' ? { externalId } : {}),
    ...(members === undefined ? {} : { members: idsIn(members) }),
  };
}

function idsIn(members: Json): readonly string[] {
  return valuesIn(members).map((member) => {
    const { value, type } = membersOf(member);
    if (typeof type === 'string' && type.toLowerCase() === 'group')
      throw wrong('invalidValue', 'a group cannot be a member of a group here; assign its users');
    if (typeof value !== 'string' || value === '')
      throw wrong('invalidValue', 'a member needs a `value`: the id of a user');
    return value;
  });
}

/** Returns the changes that the steps make. Members that the steps do not mention are left out. */
function patched(view: View, group: Stored<'Group'>, steps: readonly Step[]): ProvidedGroup {
  const said: { name?: string; externalId?: string | null } = {};
  const change: MemberChange = { joined: new Set(), left: new Set(), comparisons: createComparisons() };
  for (const step of steps) {
    if (step.attribute.name === 'displayName') said.name = nameOf(step.value);
    else if (step.attribute.name === 'externalId') said.externalId = typeof step.value === 'string' ? step.value : null;
    else moveMembers(view, group, step, change);
  }
  const { whole, joined, left } = change;
  if (whole !== undefined) return { key: group.id, ...said, members: [...whole] };
  return { key: group.id, ...said, joined: [...joined], left: [...left] };
}

function nameOf(value: Json | undefined): string {
  if (typeof value === 'string' && value.trim() !== '') return value;
  throw wrong('invalidValue', '`displayName` must not be empty');
}

/** Members that join and leave a group. `whole` is set once a step gives the complete list of members. */
interface MemberChange {
  whole?: Set<string>;
  readonly joined: Set<string>;
  readonly left: Set<string>;
  readonly comparisons: Comparisons;
}

function moveMembers(view: View, group: Stored<'Group'>, step: Step, change: MemberChange): void {
  const { op, value } = step;
  if (op !== 'remove') {
    if (step.filter !== undefined || step.sub !== undefined)
      throw wrong('mutability', 'the attributes of a member cannot be changed; add or remove members');
    if (op === 'replace') change.whole = new Set(idsIn(valuesIn(value)));
    else for (const id of idsIn(valuesIn(value))) join(change, id);
    return;
  }
  if (step.sub !== undefined)
    throw wrong('mutability', 'the attributes of a member cannot be removed; remove the member');
  if (step.filter !== undefined) for (const id of found(view, group, step, change)) leave(change, id);
  // Taken literally, the RFC ignores the list and leaves the group empty.
  else if (value !== undefined) for (const id of idsIn(valuesIn(value))) leave(change, id);
  else change.whole = new Set();
}

function join({ whole, joined, left }: MemberChange, id: string): void {
  whole?.add(id);
  joined.add(id);
  left.delete(id);
}

function leave({ whole, joined, left }: MemberChange, id: string): void {
  whole?.delete(id);
  joined.delete(id);
  left.add(id);
}

/**
 * Returns the ids of the members that a filter matches after the earlier steps of the PATCH. A member named by its id
 * is returned without a scan of all members.
 */
function found(
  view: View,
  group: Stored<'Group'>,
  { filter, attribute }: Step,
  change: MemberChange,
): readonly string[] {
  if (filter === undefined) return [];
  if (filter.op === 'eq' && filter.path.name.toLowerCase() === 'value') return [String(filter.value)];
  const size = view.state.countReferrers(group.id, 'User', 'auto_groups') + (change.whole ?? change.joined).size;
  change.comparisons.use(filter, size);
  const known = memberList(view, group).filter(
    ({ value }) => change.whole?.has(String(value)) ?? !change.left.has(String(value)),
  );
  const ids = new Set([...known.map(({ value }) => String(value)), ...(change.whole ?? change.joined)]);
  const described = new Map(known.map((member) => [String(member['value']), member] as const));
  return [...ids].filter((id) => valueMatches(attribute, filter, described.get(id) ?? { value: id, type: 'User' }));
}
