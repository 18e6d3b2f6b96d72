import { canonicalJson } from '../../../lib/json.ts';
import { sha256 } from '../../../lib/node-pure.ts';
import type { Provided } from '../../../model/declare/provided.ts';
import { plainSettings } from '../../../model/sources/settings.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import type { Stored } from '../../../model/state/stored.ts';
import type { TrippedGuard } from '../../../plan/plan.ts';
import type { Removals } from './plan.ts';

/** How long what was removed before counts with what is removed now. */
const windowMs = 60 * 60 * 1000;

/** What the guard looks at. */
export interface GuardInput {
  readonly state: Snapshot;
  readonly integration: string;
  readonly removals: Removals;
  /** The provider has no users at all. */
  readonly isEmpty: boolean;
  /** What was removed before this moment counts no more, ISO 8601. */
  readonly countedSince: string;
}

/** Since when removals count together: in the hour before, and since the last approval. */
export function countedSince(now: string, approvedAt = ''): string {
  const begin = new Date(Date.parse(now) - windowMs).toISOString();
  return approvedAt > begin ? approvedAt : begin;
}

/**
 * Bad input looks like intent: a directory that is empty all of a sudden, or a mapping that went wrong. What takes much away
 * wants an approval: of the users, of the groups, or of the members of groups. Users and members who were removed in the hour
 * before count, since a little at a time is much in the end.
 */
export function removalGuards(input: GuardInput): readonly TrippedGuard[] {
  const one = memberGuards(input);
  return [...userGuard(input), ...groupGuard(input), ...(one.length > 0 ? one : membershipGuard(input))];
}

const { deletes, deleteShare, kindShare } = plainSettings.limits;

function userGuard({
  state,
  integration,
  removals,
  isEmpty,
  countedSince: since,
}: GuardInput): readonly TrippedGuard[] {
  const going = removals.users.length;
  // Users who are kept out one by one are as many as those who are kept out at once.
  if (going === 0) return [];
  let active = 0;
  let before = 0;
  for (const { spec, derived, createdAt } of state.ofKind('User')) {
    if (derived.provided?.by !== integration) continue;
    if (spec.is_blocked !== true) active += 1;
    else if (keptOutAt(derived.provided, createdAt) > since) before += 1;
  }
  if (isEmpty)
    return [
      { guard: 'empty', message: `keeps out ${going} of ${active} users: the identity provider names none any more` },
    ];
  const most = Math.max(deletes, Math.floor((active + before) * deleteShare));
  if (going + before <= most) return [];
  const message = `keeps out ${going} of ${active + before} users${afterText(before)}; up to ${most} an hour need no approval`;
  return [{ guard: 'deletes', message }];
}

function afterText(before: number): string {
  return before === 0 ? '' : ` after ${before} in the hour before`;
}

function groupsText(count: number): string {
  return count === 1 ? 'one group' : `${count} groups`;
}

/** When a user was kept out; those who never were let in, for want of a group, do not count. */
function keptOutAt({ inactive_since, unassigned_since = '' }: Provided, createdAt: string): string {
  return inactive_since ?? (unassigned_since === createdAt ? '' : unassigned_since);
}

/** The groups that the integration has brought, and that are there for the provider still. */
function groupsOf({ state, integration }: GuardInput): readonly Stored<'Group'>[] {
  return state
    .ofKind('Group')
    .filter(({ derived: { provided } }) => provided?.by === integration && provided.removed_since === undefined);
}

function groupGuard(input: GuardInput): readonly TrippedGuard[] {
  const going = input.removals.groups.length;
  if (going <= deletes) return [];
  const all = groupsOf(input).length;
  const most = Math.max(deletes, Math.floor(all * deleteShare));
  if (going <= most) return [];
  return [{ guard: 'deletes', message: `removes ${going} of ${all} groups; up to ${most} need no approval` }];
}

/** A little of each group may be much of all. */
function membershipGuard(input: GuardInput): readonly TrippedGuard[] {
  const { state, removals } = input;
  const going = [...removals.members.values()].reduce((sum, users) => sum + users.length, 0);
  if (going === 0) return [];
  const groups = groupsOf(input);
  const before = groups.reduce((sum, group) => sum + leftBefore(input, group), 0);
  if (going + before <= deletes) return [];
  const all = before + groups.reduce((sum, { id }) => sum + state.countReferrers(id, 'User', 'auto_groups'), 0);
  const most = Math.max(deletes, Math.floor(all * kindShare));
  if (going + before <= most) return [];
  const message = `ends ${going} of ${all} memberships in ${groupsText(removals.members.size)}${afterText(before)}; up to ${most} an hour need no approval`;
  return [{ guard: 'deletes', message }];
}

function memberGuards(input: GuardInput): readonly TrippedGuard[] {
  const { state, removals } = input;
  return [...removals.members].flatMap(([id, users]): readonly TrippedGuard[] => {
    const group = state.find('Group', id);
    const before = leftBefore(input, group);
    if (users.length + before <= deletes) return [];
    const size = before + state.countReferrers(id, 'User', 'auto_groups');
    const most = Math.max(deletes, Math.floor(size * kindShare));
    if (users.length + before <= most) return [];
    const message = `takes ${users.length} of ${size} users out of the group ${group?.name ?? id}${afterText(before)}; up to ${most} an hour need no approval`;
    return [{ guard: 'deletes', message }];
  });
}

/** How many users left a group before who count still. */
function leftBefore({ countedSince: since }: GuardInput, group: Stored<'Group'> | undefined): number {
  const left = group?.derived.provided?.left;
  return left !== undefined && left.since > since ? left.count : 0;
}

/** What an approval is of: what is removed, whatever else is said beside it. */
export function removalDigest(integration: string, { users, groups, members }: Removals): string {
  return sha256(
    canonicalJson({
      integration,
      users: [...users].sort(),
      groups: [...groups].sort(),
      members: Object.fromEntries([...members].map(([group, ids]) => [group, [...ids].sort()])),
    }),
  );
}
