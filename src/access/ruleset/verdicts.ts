import type { State } from '../../model/declare/kind.ts';
import { movedMembers } from '../../model/state/members.ts';
import type { StoredObject } from '../../model/state/object.ts';
import { isInGroup } from './groups.ts';
import { groupFields, kindOf, readGroup, readPeer, readValidator } from './object-readers.ts';

/** What endpoint-security products say about the peers of an account. */
export interface Verdicts {
  /**
   * By id, the integrations whose products decide about the peers of their groups: those that were asked about all of them
   * at least once. The text says why no peer of them is let in at the moment; it is empty while the verdicts count.
   */
  readonly deciding: ReadonlyMap<string, string>;
  /** By id of the peer, and by id of the integration: what is wrong with it, an empty text when nothing is. */
  readonly of: ReadonlyMap<string, Readonly<Record<string, string>>>;
}

/** The verdicts as far as single peers are asked about. */
export interface VerdictsOfPeers {
  readonly deciding: Verdicts['deciding'];
  readonly of: Pick<Verdicts['of'], 'get'>;
}

/** No product decides about any peer. */
export const noVerdicts: Verdicts = { deciding: new Map(), of: new Map() };

/** Why endpoint security keeps a peer out, `undefined` when it does not: every product that decides about it must agree. */
export function disapprovalOf(peer: StoredObject, state: State, { deciding, of }: VerdictsOfPeers): string | undefined {
  // A temporary peer has no machine of its own, and is here for one other peer alone.
  if (deciding.size === 0 || readPeer(peer).temporary) return undefined;
  const own = of.get(peer.id) ?? {};
  for (const [id, untrusted] of deciding) {
    if (!decidesAbout(state, id, peer.id)) continue;
    const reason = untrusted || (own[id] ?? notAskedYet);
    if (reason !== '') return reason;
  }
  return undefined;
}

const notAskedYet = 'endpoint security has not checked the peer yet';

/** Whether a peer is in the groups of an integration. */
export function decidesAbout(state: State, id: string, peer: string): boolean {
  return groupsOf(state, id).some((group) => isInGroup(state, group, peer));
}

/** The groups about whose peers an integration decides. */
function groupsOf(state: State, id: string): readonly string[] {
  const object = state.get(id);
  return object === undefined ? [] : readValidator(object).groups;
}

/** A state with the verdicts that are known in it. */
interface Side {
  readonly state: State;
  readonly verdicts: Verdicts;
}

/**
 * The peers that take part or not otherwise after a change of an object: all those of the groups of an integration, or those
 * that joined or left a group about whose peers one decides.
 */
export function affectedPeers(id: string, ...[before, after]: readonly [Side, Side]): readonly string[] {
  const sides = [before, after];
  if (sides.some(({ verdicts }) => verdicts.deciding.has(id)))
    return sides.flatMap(({ state }) => decidedBy(state, id));
  if (!sides.some((side) => isDecidedAbout(side, id))) return [];
  return movedMembers(before.state.get(id), after.state.get(id), groupFields.member).map((move) => move.id);
}

/** The peers of the groups of an integration; one may occur several times. */
export function decidedBy(state: State, id: string): readonly string[] {
  return groupsOf(state, id).flatMap((group) => membersOf(state, group));
}

function isDecidedAbout({ state, verdicts }: Side, group: string): boolean {
  return [...verdicts.deciding.keys()].some((id) => groupsOf(state, id).includes(group));
}

function membersOf(state: State, group: string): readonly string[] {
  const object = state.get(group);
  if (object === undefined) return [];
  const { all, peers } = readGroup(object);
  return all ? state.ofKind(kindOf.peer).map(({ id }) => id) : peers;
}
