import { canonicalJson } from '../../../lib/json.ts';
import { sha256 } from '../../../lib/node-pure.ts';
import type { Provided } from '../../../model/declare/provided.ts';
import { defaultSettings } from '../../../model/sources/settings.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import type { Stored } from '../../../model/state/stored.ts';
import type { TrippedGuard } from '../../../plan/plan.ts';
import type { Removals } from './plan.ts';

/** Time for which earlier removals count together with new ones, in milliseconds. */
const windowMs = 60 * 60 * 1000;

/** Input of the guard on removals. */
export interface RemovalGuardInput {
  readonly state: Snapshot;
  readonly integration: string;
  readonly removals: Removals;
  /** Whether the provider has no users at all. */
  readonly isEmpty: boolean;
  /** Time in ISO 8601 before which removals do not count any more. */
  readonly countedSince: string;
}

/**
 * Returns the time since which removals count together, in ISO 8601: an hour before, or the last approval if it is
 * later.
 */
export function removalWindowStart(now: string, approvedAt = ''): string {
  const begin = new Date(Date.parse(now) - windowMs).toISOString();
  return approvedAt > begin ? approvedAt : begin;
}

/**
 * Returns the guards that a change trips. Bad input looks like intent: a directory that is suddenly empty, or a wrong
 * mapping. A change that removes many users, groups or members of groups therefore needs an approval. Users and members
 * who were removed in the hour before also count, since many small removals add up.
 */
export function removalGuards(input: RemovalGuardInput): readonly TrippedGuard[] {
  const one = memberGuards(input);
  return [...userGuard(input), ...groupGuard(input), ...(one.length > 0 ? one : membershipGuard(input))];
}

const { deletes, deleteShare, kindShare } = defaultSettings.limits;

function userGuard({
  state,
  integration,
  removals,
  isEmpty,
  countedSince: since,
}: RemovalGuardInput): readonly TrippedGuard[] {
  const going = removals.users.length;
  // A change that keeps out no user trips nothing. Otherwise users who were kept out earlier count like users who are
  // kept out at once.
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
      { guard: 'empty', message: `keeps out ${going} of ${active} users: the identity provider no longer lists any` },
    ];
  const most = Math.max(deletes, Math.floor((active + before) * deleteShare));
  if (going + before <= most) return [];
  const message = `keeps out ${going} of ${active + before} users${describeEarlierRemovals(before)}; up to ${most} an hour need no approval`;
  return [{ guard: 'deletes', message }];
}

function describeEarlierRemovals(before: number): string {
  return before === 0 ? '' : ` after ${before} in the hour before`;
}

function groupsText(count: number): string {
  return count === 1 ? 'one group' : `${count} groups`;
}

/**
 * Returns when a user was kept out. Returns an empty text for a user who was never let in because no group allowed it:
 * such users do not count.
 */
function keptOutAt({ inactive_since, unassigned_since = '' }: Provided, createdAt: string): string {
  return inactive_since ?? (unassigned_since === createdAt ? '' : unassigned_since);
}

/** Returns the groups that the integration brought and that the provider still has. */
function groupsOf({ state, integration }: RemovalGuardInput): readonly Stored<'Group'>[] {
  return state
    .ofKind('Group')
    .filter(({ derived: { provided } }) => provided?.by === integration && provided.removed_since === undefined);
}

function groupGuard(input: RemovalGuardInput): readonly TrippedGuard[] {
  const going = input.removals.groups.length;
  if (going <= deletes) return [];
  const all = groupsOf(input).length;
  const most = Math.max(deletes, Math.floor(all * deleteShare));
  if (going <= most) return [];
  return [{ guard: 'deletes', message: `removes ${going} of ${all} groups; up to ${most} need no approval` }];
}

/** Guards the memberships of all groups together: few removals from each group may be many in total. */
function membershipGuard(input: RemovalGuardInput): readonly TrippedGuard[] {
  const { state, removals } = input;
  const going = [...removals.members.values()].reduce((sum, users) => sum + users.length, 0);
  if (going === 0) return [];
  const groups = groupsOf(input);
  const before = groups.reduce((sum, group) => sum + countEarlierLeavers(input, group), 0);
  if (going + before <= deletes) return [];
  const all = before + groups.reduce((sum, { id }) => sum + state.countReferrers(id, 'User', 'auto_groups'), 0);
  const most = Math.max(deletes, Math.floor(all * kindShare));
  if (going + before <= most) return [];
  const message = `ends ${going} of ${all} memberships in ${groupsText(removals.members.size)}${describeEarlierRemovals(before)}; up to ${most} an hour need no approval`;
  return [{ guard: 'deletes', message }];
}

function memberGuards(input: RemovalGuardInput): readonly TrippedGuard[] {
  const { state, removals } = input;
  return [...removals.members].flatMap(([id, users]): readonly TrippedGuard[] => {
    const group = state.find('Group', id);
    const before = countEarlierLeavers(input, group);
    if (users.length + before <= deletes) return [];
    const size = before + state.countReferrers(id, 'User', 'auto_groups');
    const most = Math.max(deletes, Math.floor(size * kindShare));
    if (users.length + before <= most) return [];
    const message = `takes ${users.length} of ${size} users out of the group ${group?.name ?? id}${describeEarlierRemovals(before)}; up to ${most} an hour need no approval`;
    return [{ guard: 'deletes', message }];
  });
}

/** Returns how many users left a group earlier and still count. */
function countEarlierLeavers({ countedSince: since }: RemovalGuardInput, group: Stored<'Group'> | undefined): number {
  const left = group?.derived.provided?.left;
  return left !== undefined && left.since > since ? left.count : 0;
}

/** Returns the digest that is approved. It covers the removals only, whatever else the change contains. */
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
