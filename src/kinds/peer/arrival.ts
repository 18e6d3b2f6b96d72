import { isObject, type JsonObject } from '../../lib/json.ts';
import type { State } from '../../model/declare/kind.ts';
import type { DerivedChange, ObjectChange } from '../../model/declare/mutation.ts';
import type { Stored } from '../../model/state/stored.ts';
import { addMember } from '../shared/membership.ts';
import { createTakenCheck, findFreeAddress, hasIpv6, rangeOf, textsIn } from '../shared/peer-addresses.ts';
import { chooseNewLabel } from './label.ts';

/** Origin of group memberships that enrolment adds. */
const enrolmentOrigin = 'enrolment';

/**
 * Returns the changes that follow from an enrolment: the peer gets addresses and a label and joins its groups, and its
 * setup key counts one more use.
 */
export function deriveEnrolmentChanges(
  { after, given }: ObjectChange<Stored<'Peer'>>,
  state: State,
): readonly DerivedChange[] {
  const enrolment = given?.['enrolment'];
  if (after === undefined || !isObject(enrolment)) return [];
  // Inputs of a request are JSON.
  const { groups, setup_key, at } = enrolment as JsonObject;
  const joined = textsIn(groups);
  return [
    ...assignAddress(after, joined, state),
    ...joined.flatMap((id) => addMember(state.find('Group', id), after.id, enrolmentOrigin)),
    ...countKeyUse(state.find('SetupKey', String(setup_key ?? '')), after, String(at)),
  ];
}

function assignAddress(peer: Stored<'Peer'>, groups: readonly string[], state: State): readonly DerivedChange[] {
  if ((peer.spec.ip ?? '') !== '') return [];
  const [account] = state.ofKind('Account');
  const range = rangeOf(account, 'ip');
  const ip = range === undefined ? undefined : findFreeAddress(range, peer.id, createTakenCheck(state, 'ip'));
  if (ip === undefined) return [];
  const label = chooseNewLabel(peer, ip, state);
  const range6 = hasIpv6(account, peer.id, state, groups) ? rangeOf(account, 'ipv6') : undefined;
  const ipv6 = range6 === undefined ? undefined : findFreeAddress(range6, peer.id, createTakenCheck(state, 'ipv6'));
  const spec = { ...peer.spec, ip, dns_label: label, ...(ipv6 === undefined ? {} : { ipv6 }) };
  return [{ change: { ...peer, key: label }, spec }];
}

/**
 * Counts a use of the setup key. `last_peer` records the peer, so that deriving the changes again does not count it
 * twice.
 */
function countKeyUse(key: Stored<'SetupKey'> | undefined, peer: Stored<'Peer'>, at: string): readonly DerivedChange[] {
  if (key === undefined || key.derived.last_peer === peer.id) return [];
  const uses = key.derived.used_times ?? 0;
  return [{ change: key, derived: { used_times: uses + 1, last_used: at, last_peer: peer.id } }];
}
