import type { State } from '../../model/declare/kind.ts';
import { changedMembers } from '../../model/state/members.ts';
import type { StoredObject } from '../../model/state/object.ts';
import { isInGroup } from './groups.ts';
import { groupFields, kindOf, readGroup, readPeer, readValidator } from './object-readers.ts';

/** Verdicts of endpoint-security products about the peers of an account. */
export interface Verdicts {
  /**
   * Integrations whose products decide about the peers of their groups, by id: those that were queried about all of
   * these peers at least once. The value is the reason why none of their peers is admitted now, or empty while the
   * verdicts count.
   */
  readonly deciding: ReadonlyMap<string, string>;
  /** Problem of a peer, by peer id and integration id. Empty when there is no problem. */
  readonly problemsByPeer: ReadonlyMap<string, Readonly<Record<string, string>>>;
}

/** Verdicts, for reading single peers only. */
export interface VerdictsOfPeers {
  readonly deciding: Verdicts['deciding'];
  readonly problemsByPeer: Pick<Verdicts['problemsByPeer'], 'get'>;
}

/** No product decides about any peer. */
export const noVerdicts: Verdicts = { deciding: new Map(), problemsByPeer: new Map() };

/**
 * Returns why endpoint security keeps a peer out, or `undefined` when it does not. Every product that decides about the
 * peer must approve it.
 */
export function disapprovalOf(
  peer: StoredObject,
  state: State,
  { deciding, problemsByPeer }: VerdictsOfPeers,
): string | undefined {
  // A temporary peer has no machine of its own, and exists for one other peer only.
  if (deciding.size === 0 || readPeer(peer).temporary) return undefined;
  const own = problemsByPeer.get(peer.id) ?? {};
  for (const [id, untrusted] of deciding) {
    if (!decidesAbout(state, id, peer.id)) continue;
    const reason = untrusted || (own[id] ?? uncheckedReason);
    if (reason !== '') return reason;
  }
  return undefined;
}

const uncheckedReason = 'endpoint security has not checked the peer yet';

/** Whether an integration decides about a peer: the peer is in one of its groups. */
export function decidesAbout(state: State, id: string, peer: string): boolean {
  return groupsOf(state, id).some((group) => isInGroup(state, group, peer));
}

/** Returns the groups whose peers an integration decides about. */
function groupsOf(state: State, id: string): readonly string[] {
  const object = state.get(id);
  return object === undefined ? [] : readValidator(object).groups;
}

/** State, with the verdicts that apply to it. */
interface StateWithVerdicts {
  readonly state: State;
  readonly verdicts: Verdicts;
}

/**
 * Returns the peers that endpoint security may admit or keep out after a change of an object. For an integration, all
 * peers of its groups. For a group whose peers an integration decides about, the peers that joined or left.
 */
export function affectedPeers(
  id: string,
  ...[before, after]: readonly [StateWithVerdicts, StateWithVerdicts]
): readonly string[] {
  const sides = [before, after];
  if (sides.some(({ verdicts }) => verdicts.deciding.has(id)))
    return sides.flatMap(({ state }) => peersDecidedBy(state, id));
  if (!sides.some((side) => isDecidedAbout(side, id))) return [];
  return changedMembers(before.state.get(id), after.state.get(id), groupFields.member).map((move) => move.id);
}

/** Returns the peers in the groups of an integration. May contain duplicates. */
export function peersDecidedBy(state: State, id: string): readonly string[] {
  return groupsOf(state, id).flatMap((group) => membersOf(state, group));
}

function isDecidedAbout({ state, verdicts }: StateWithVerdicts, group: string): boolean {
  return [...verdicts.deciding.keys()].some((id) => groupsOf(state, id).includes(group));
}

function membersOf(state: State, group: string): readonly string[] {
  const object = state.get(group);
  if (object === undefined) return [];
  const { all, peers } = readGroup(object);
  return all ? state.ofKind(kindOf.peer).map(({ id }) => id) : peers;
}
