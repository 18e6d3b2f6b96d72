import { isObject, type JsonObject } from '../../lib/json.ts';
import type { State } from '../../model/declare/kind.ts';
import type { DerivedChange, Step } from '../../model/declare/mutation.ts';
import type { Stored } from '../../model/state/stored.ts';
import { withMember } from '../shared/membership.ts';
import { freeAddress, hasIpv6, isTakenIn, listed, rangeOf } from '../shared/peer-addresses.ts';
import { labelFor } from './label.ts';

/** Origin of group memberships that enrolment adds. */
const origin = 'enrolment';

/**
 * Returns the changes that follow from an enrolment: the peer gets addresses and a label and joins its groups, and its
 * setup key counts one more use.
 */
export function arrive({ after, given }: Step<Stored<'Peer'>>, state: State): readonly DerivedChange[] {
  const enrolment = given?.['enrolment'];
  if (after === undefined || !isObject(enrolment)) return [];
  // Inputs of a request are JSON.
  const { groups, setup_key, at } = enrolment as JsonObject;
  const joined = listed(groups);
  return [
    ...settle(after, joined, state),
    ...joined.flatMap((id) => withMember(state.find('Group', id), after.id, origin)),
    ...useKey(state.find('SetupKey', String(setup_key ?? '')), after, String(at)),
  ];
}

function settle(peer: Stored<'Peer'>, groups: readonly string[], state: State): readonly DerivedChange[] {
  if ((peer.spec.ip ?? '') !== '') return [];
  const [account] = state.ofKind('Account');
  const range = rangeOf(account, 'ip');
  const ip = range === undefined ? undefined : freeAddress(range, peer.id, isTakenIn(state, 'ip'));
  if (ip === undefined) return [];
  const label = labelFor(peer, ip, state);
  const range6 = hasIpv6(account, peer.id, state, groups) ? rangeOf(account, 'ipv6') : undefined;
  const ipv6 = range6 === undefined ? undefined : freeAddress(range6, peer.id, isTakenIn(state, 'ipv6'));
  const spec = { ...peer.spec, ip, dns_label: label, ...(ipv6 === undefined ? {} : { ipv6 }) };
  return [{ change: { ...peer, key: label }, spec }];
}

/**
 * Counts a use of the setup key. `last_peer` records the peer, so that deriving the changes again does not count it
 * twice.
 */
function useKey(key: Stored<'SetupKey'> | undefined, peer: Stored<'Peer'>, at: string): readonly DerivedChange[] {
  if (key === undefined || key.derived.last_peer === peer.id) return [];
  const uses = key.derived.used_times ?? 0;
  return [{ change: key, derived: { used_times: uses + 1, last_used: at, last_peer: peer.id } }];
}
