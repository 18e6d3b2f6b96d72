import type { AuditEvent, State } from '../../model/kind.ts';
import type { StoredObject } from '../../model/object.ts';
import { peerFqdn } from '../shared/peer-domain.ts';
import { textOf } from '../shared/stored.ts';
import { switchEvents } from '../shared/switches.ts';

const switches = {
  ssh_enabled: 'peer.ssh',
  login_expiration_enabled: 'peer.login.expiration',
  inactivity_expiration_enabled: 'peer.inactivity.expiration',
};

/** What events say about a peer. */
export function peerMeta(peer: StoredObject, state: State): Readonly<Record<string, string>> {
  const ipv6 = textOf(peer, 'ipv6');
  return {
    name: peer.name,
    fqdn: peerFqdn(peer, state),
    ip: textOf(peer, 'ip'),
    created_at: peer.createdAt,
    ...(ipv6 === '' ? {} : { ipv6 }),
  };
}

/** A rename, each switched flag, and a new address. */
export function updatedEvents(before: StoredObject, after: StoredObject, state: State): readonly AuditEvent[] {
  const meta = peerMeta(after, state);
  const oldIp = textOf(before, 'ip');
  return [
    ...(before.name === after.name ? [] : [{ code: 'peer.rename', meta }]),
    ...switchEvents(switches, before.spec, after.spec, meta),
    ...(oldIp === textOf(after, 'ip') ? [] : [{ code: 'peer.ip.update', meta: { ...meta, old_ip: oldIp } }]),
  ];
}
