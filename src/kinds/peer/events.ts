import type { AuditEvent, State } from '../../model/kind.ts';
import type { StoredObject } from '../../model/object.ts';
import { peerFqdn } from '../shared/peer-fqdn.ts';
import { derivedText, textOf } from '../shared/stored.ts';
import { switchEvents } from '../shared/switches.ts';

type Meta = Readonly<Record<string, string>>;

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
    ...locationOf(peer),
    ...(ipv6 === '' ? {} : { ipv6 }),
  };
}

/** Who let it in; of a peer that nobody let in by enrolment nothing is told. */
export function enrolledEvents(peer: StoredObject, state: State): readonly AuditEvent[] {
  const way = derivedText(peer, 'enrolled_by');
  if (way !== 'user' && way !== 'setup_key') return [];
  const waits = peer.spec['approval_required'] === true;
  const meta = { ...peerMeta(peer, state), ...(waits ? { pending_approval: 'true' } : {}) };
  const key = derivedText(peer, 'setup_key_name');
  return [
    way === 'user'
      ? { code: 'peer.user.add', meta }
      : { code: 'peer.setupkey.add', meta: { ...meta, setup_key_name: key ?? '' } },
    ...(waits ? [{ code: 'peer.pending.approval', meta }] : []),
  ];
}

/** A rename, each switched flag, and a new address. */
export function updatedEvents(before: StoredObject, after: StoredObject, state: State): readonly AuditEvent[] {
  const meta = peerMeta(after, state);
  const oldIp = textOf(before, 'ip');
  return [
    ...approvalEvents(before, after, meta),
    ...signOutEvents(before, after, meta, state),
    ...(before.name === after.name ? [] : [{ code: 'peer.rename', meta }]),
    ...switchEvents(switches, before.spec, after.spec, meta),
    ...(oldIp === textOf(after, 'ip') ? [] : [{ code: 'peer.ip.update', meta: { ...meta, old_ip: oldIp } }]),
  ];
}

const places = {
  location_city_name: 'city_name',
  location_country_code: 'country_code',
  location_geo_name_id: 'geoname_id',
  location_connection_ip: 'connection_ip',
};

/** Where the peer is, as far as that is known. */
function locationOf(peer: StoredObject): Meta {
  const known = Object.entries(places).flatMap(([name, fact]) => {
    const value = peer.derived[fact];
    return value === undefined || value === '' ? [] : [[name, String(value)] as const];
  });
  return Object.fromEntries(known);
}

function approvalEvents(before: StoredObject, after: StoredObject, meta: Meta): readonly AuditEvent[] {
  const waits = after.spec['approval_required'] === true;
  if ((before.spec['approval_required'] === true) === waits) return [];
  return [{ code: waits ? 'peer.approval.revoke' : 'peer.approve', meta }];
}

function signOutEvents(before: StoredObject, after: StoredObject, meta: Meta, state: State): readonly AuditEvent[] {
  const [was, is] = [before, after].map(({ derived }) => derived['login_expired'] === true);
  if (was === is) return [];
  if (was) return [{ code: 'user.peer.login', meta }];
  const isBlocked = state.get(textOf(after, 'user_id'))?.spec['is_blocked'] === true;
  return [
    {
      code: 'peer.login.expire',
      meta: {
        ...meta,
        reason: isBlocked ? 'blocked owner account' : (derivedText(after, 'expiry_reason') ?? 'expired'),
      },
    },
  ];
}
