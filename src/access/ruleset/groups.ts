import { type BitSet, intersectBits, subtractBits, uniteBits } from '../../lib/bits/bit-set.ts';
import type { State } from '../../model/declare/kind.ts';
import { type Endpoints, slotsOf } from './endpoints.ts';
import { accessTypeOf, groupFields, readGroup } from './object-readers.ts';

/** Endpoints that a rule covers when it names a group. */
export interface Membership {
  /** Peers, proxies and resources. */
  readonly members: BitSet;
  /** Temporary peers in the group. The group grants them nothing, but drop rules cover them. */
  readonly temporaryPeers: BitSet;
  /** Routes that have the group among their access control groups: only peers that may reach the group may use them. */
  readonly guarded: BitSet;
}

/** Returns the membership of a group, or `undefined` when the group does not exist. */
export function membershipOf(id: string, state: State, endpoints: Endpoints): Membership | undefined {
  const object = state.get(id);
  if (object === undefined) return undefined;
  const { all, peers, proxies } = readGroup(object);
  const named = (field: string, part: 'resource' | 'route') =>
    slotsOf(
      endpoints,
      state
        .referrersOf(id)
        .filter((referrer) => referrer.field === field && accessTypeOf(referrer.from) === part)
        .map(({ from }) => from.id),
    );
  const held = all ? endpoints.byType.peer : slotsOf(endpoints, peers);
  return {
    temporaryPeers: intersectBits(held, endpoints.temporaryPeers),
    members: uniteBits(
      subtractBits(held, endpoints.temporaryPeers),
      slotsOf(endpoints, proxies),
      named(groupFields.resource, 'resource'),
    ),
    guarded: named(groupFields.guarded, 'route'),
  };
}

/** Whether a peer is in a group. */
export function isInGroup(state: State, id: string, peer: string): boolean {
  const group = state.get(id);
  if (group === undefined) return false;
  return readGroup(group).hasPeer(peer);
}
