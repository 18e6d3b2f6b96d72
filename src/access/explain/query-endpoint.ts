import { hasBit } from '../../lib/bits/bit-set.ts';
import type { StoredObject } from '../../model/state/object.ts';
import { type Named, nameOf } from '../evaluate/named.ts';
import type { Access } from '../ruleset/access.ts';
import type { PeerFacts } from '../ruleset/facts.ts';
import type { Membership } from '../ruleset/groups.ts';
import type { RuleAction } from '../ruleset/object-readers.ts';
import { groupFields, partOf, readGroup, readPeer, readResource, readRoute } from '../ruleset/object-readers.ts';
import { disapprovalOf } from '../ruleset/verdicts.ts';

/** Why an end can be at no end of a connection, whatever rules say. */
export type InactiveReason = 'waiting' | 'kept_out' | 'disabled' | 'unreachable';

/** One endpoint of a question: one that exists, or a hypothetical one. */
export interface QueryEndpoint extends Named {
  /** A peer that is in these groups and is not there (yet): it answers for a group without members. */
  readonly imagined: boolean;
  readonly opens: boolean;
  readonly inactive?: InactiveReason;
  /** Why endpoint security keeps it out. */
  readonly disapproval?: string;
  /** The groups among these that hold it, `All` included, as a rule that accepts or one that drops means them. */
  groupsAmong(groups: readonly string[], action?: RuleAction): readonly string[];
  /** The groups among these that guard it, when it is a route. */
  guardsAmong(groups: readonly string[]): readonly string[];
  /** What is known about a peer; resources and routes have no facts. */
  readonly facts?: PeerFacts;
}

/** The end of this id. A peer that is not there yet is imagined with the groups that list it. */
export function queryEndpointOf(access: Access, id: string): QueryEndpoint {
  const at = access.endpoints.slots.get(id);
  const object = access.state.get(id);
  if (at === undefined || object === undefined)
    return imagine(access, nameOf(id, access.state), groupsListing(access, id));
  const named = nameOf(id, access.state);
  const isPeer = named.type === 'peer';
  const guards = named.type === 'route' ? readRoute(object).guards : [];
  const disapproval = isPeer ? disapprovalOf(object, access.state, access.observedPeers.verdicts) : undefined;
  const inactive = hasBit(access.live, at) ? undefined : inactiveReason(object, disapproval);
  return {
    ...named,
    imagined: false,
    opens: isPeer,
    ...(inactive === undefined ? {} : { inactive }),
    ...(disapproval === undefined ? {} : { disapproval }),
    groupsAmong: (groups, action) => groups.filter((group) => isMeant(access.groups.get(group), at, action)),
    guardsAmong: (groups) => groups.filter((group) => guards.includes(group) && access.groups.get(group) !== undefined),
    ...(isPeer ? { facts: access.observedPeers.facts.get(id) ?? {} } : {}),
  };
}

function isMeant(group: Membership | undefined, at: number, action: RuleAction = 'accept'): boolean {
  if (group === undefined) return false;
  return hasBit(group.members, at) || (action === 'drop' && hasBit(group.temporaryPeers, at));
}

/** A peer that is in this group and in no other but those that hold everybody. */
export function groupRepresentative(access: Access, group: string): QueryEndpoint {
  return imagine(access, nameOf(group, access.state), [group]);
}

function imagine({ universalGroups }: Access, named: Named, groups: readonly string[]): QueryEndpoint {
  const own = new Set([...groups, ...universalGroups]);
  return {
    ...named,
    imagined: true,
    opens: true,
    groupsAmong: (asked) => asked.filter((group) => own.has(group)),
    guardsAmong: () => [],
    facts: {},
  };
}

function groupsListing({ state }: Access, id: string): readonly string[] {
  return state
    .referrersOf(id)
    .filter(({ from, field }) => field === groupFields.member && partOf(from) === 'group')
    .filter(({ from }) => readGroup(from).peers.includes(id))
    .map(({ from }) => from.id);
}

function inactiveReason(object: StoredObject, disapproval: string | undefined): InactiveReason {
  const part = partOf(object);
  if (part === 'peer') return disapproval === undefined || !readPeer(object).approved ? 'waiting' : 'kept_out';
  const { enabled } = part === 'resource' ? readResource(object) : readRoute(object);
  return enabled ? 'unreachable' : 'disabled';
}
