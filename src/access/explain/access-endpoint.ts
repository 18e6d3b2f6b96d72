import { hasBit } from '../../lib/bits/bit-set.ts';
import type { StoredObject } from '../../model/state/object.ts';
import { findNamedObject, type NamedObject } from '../evaluate/named.ts';
import type { AccessImage } from '../ruleset/access.ts';
import type { PeerFacts } from '../ruleset/facts.ts';
import type { Membership } from '../ruleset/groups.ts';
import type { RuleAction } from '../ruleset/object-readers.ts';
import { accessTypeOf, groupFields, readGroup, readPeer, readResource, readRoute } from '../ruleset/object-readers.ts';
import { disapprovalOf } from '../ruleset/verdicts.ts';

/** Reason why an endpoint cannot take part in a connection, whatever the rules are. */
export type InactiveReason = 'waiting' | 'kept_out' | 'disabled' | 'unreachable';

/** Source or destination of a question about access: an existing object, or a hypothetical peer. */
export interface AccessEndpoint extends NamedObject {
  /** True for a hypothetical peer: a peer that does not exist yet, or one that answers for a group. */
  readonly imagined: boolean;
  readonly opensConnections: boolean;
  readonly inactive?: InactiveReason;
  /** Reason why endpoint security keeps the peer out. */
  readonly disapproval?: string;
  /**
   * Returns those of the groups that contain the endpoint, `All` included. For `drop`, groups also contain their
   * temporary peers.
   */
  groupsAmong(groups: readonly string[], action?: RuleAction): readonly string[];
  /** Returns those of the groups that guard the endpoint, if it is a route. */
  guardsAmong(groups: readonly string[]): readonly string[];
  /** Posture facts of a peer. Resources and routes have none. */
  readonly facts?: PeerFacts;
}

/** Returns the endpoint with this id. A peer that does not exist yet is in the groups that list its id. */
export function accessEndpointOf(access: AccessImage, id: string): AccessEndpoint {
  const at = access.endpoints.slots.get(id);
  const object = access.state.get(id);
  if (at === undefined || object === undefined)
    return createHypotheticalPeer(access, findNamedObject(id, access.state), groupsListing(access, id));
  const named = findNamedObject(id, access.state);
  const isPeer = named.type === 'peer';
  const guards = named.type === 'route' ? readRoute(object).guards : [];
  const disapproval = isPeer ? disapprovalOf(object, access.state, access.observedPeers.verdicts) : undefined;
  const inactive = hasBit(access.live, at) ? undefined : inactiveReason(object, disapproval);
  return {
    ...named,
    imagined: false,
    opensConnections: isPeer,
    ...(inactive === undefined ? {} : { inactive }),
    ...(disapproval === undefined ? {} : { disapproval }),
    groupsAmong: (groups, action) => groups.filter((group) => coversEndpoint(access.groups.get(group), at, action)),
    guardsAmong: (groups) => groups.filter((group) => guards.includes(group) && access.groups.get(group) !== undefined),
    ...(isPeer ? { facts: access.observedPeers.facts.get(id) ?? {} } : {}),
  };
}

function coversEndpoint(group: Membership | undefined, at: number, action: RuleAction = 'accept'): boolean {
  if (group === undefined) return false;
  return hasBit(group.members, at) || (action === 'drop' && hasBit(group.temporaryPeers, at));
}

/** Returns a hypothetical peer that is in this group and otherwise only in groups that contain all peers. */
export function groupRepresentative(access: AccessImage, group: string): AccessEndpoint {
  return createHypotheticalPeer(access, findNamedObject(group, access.state), [group]);
}

function createHypotheticalPeer(
  { universalGroups }: AccessImage,
  named: NamedObject,
  groups: readonly string[],
): AccessEndpoint {
  const own = new Set([...groups, ...universalGroups]);
  return {
    ...named,
    imagined: true,
    opensConnections: true,
    groupsAmong: (asked) => asked.filter((group) => own.has(group)),
    guardsAmong: () => [],
    facts: {},
  };
}

function groupsListing({ state }: AccessImage, id: string): readonly string[] {
  return state
    .referrersOf(id)
    .filter(({ from, field }) => field === groupFields.member && accessTypeOf(from) === 'group')
    .filter(({ from }) => readGroup(from).peers.includes(id))
    .map(({ from }) => from.id);
}

function inactiveReason(object: StoredObject, disapproval: string | undefined): InactiveReason {
  const part = accessTypeOf(object);
  if (part === 'peer') return disapproval === undefined || !readPeer(object).approved ? 'waiting' : 'kept_out';
  const { enabled } = part === 'resource' ? readResource(object) : readRoute(object);
  return enabled ? 'unreachable' : 'disabled';
}
