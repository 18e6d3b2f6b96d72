import type { ActivityCode } from '../../model/declare/activities.ts';
import type { AuditEvent, State } from '../../model/declare/kind.ts';
import type { Stored } from '../../model/state/stored.ts';
import { listedPeers, movedPeers } from '../shared/membership.ts';
import { peerFqdn } from '../shared/peer-fqdn.ts';

/** One event for each peer that a new group starts with. */
export function createdEvents(after: Stored<'Group'>, state: State): readonly AuditEvent[] {
  return listedPeers(after).map((peer) => memberEvent('peer.group.add', after, peer, state));
}

/** A rename, and one event for each peer that came or went. */
export function updatedEvents(before: Stored<'Group'>, after: Stored<'Group'>, state: State): readonly AuditEvent[] {
  const { joined, left } = movedPeers(before, after);
  const renamed: AuditEvent = { code: 'group.update', meta: { old_name: before.name, new_name: after.name } };
  return [
    ...(before.name === after.name ? [] : [renamed]),
    ...joined.map((peer) => memberEvent('peer.group.add', after, peer, state)),
    ...left.map((peer) => memberEvent('peer.group.delete', after, peer, state)),
  ];
}

function memberEvent(code: ActivityCode, group: Stored<'Group'>, id: string, state: State): AuditEvent {
  const peer = state.find('Peer', id);
  const named = { group: group.name, group_id: group.id };
  if (peer === undefined) return { code, target: id, meta: named };
  return { code, target: id, meta: { ...named, peer_ip: peer.spec.ip ?? '', peer_fqdn: peerFqdn(peer, state) } };
}
