import type { AuditEvent, State } from '../../model/declare/kind.ts';
import type { Stored } from '../../model/state/stored.ts';
import { eventsIf, type SwitchStem, switchEvents } from '../shared/events.ts';
import { peerFqdn } from '../shared/peer-fqdn.ts';

type Meta = Readonly<Record<string, string>>;

const switchStems: Readonly<Record<string, SwitchStem>> = {
  ssh_enabled: 'peer.ssh',
  login_expiration_enabled: 'peer.login.expiration',
  inactivity_expiration_enabled: 'peer.inactivity.expiration',
};

/** Returns the metadata of events about a peer. */
export function peerMeta(peer: Stored<'Peer'>, state: State): Readonly<Record<string, string>> {
  const ipv6 = peer.spec.ipv6 ?? '';
  return {
    name: peer.name,
    fqdn: peerFqdn(peer, state),
    ip: peer.spec.ip ?? '',
    created_at: peer.createdAt,
    ...locationOf(peer),
    ...(ipv6 === '' ? {} : { ipv6 }),
  };
}

/** Returns the events of an enrolment, none for a peer that did not enrol. */
export function enrolledEvents(peer: Stored<'Peer'>, state: State): readonly AuditEvent[] {
  const way = peer.derived.enrolled_by;
  if (way !== 'user' && way !== 'setup_key') return [];
  const waits = peer.spec.approval_required === true;
  const meta = { ...peerMeta(peer, state), ...(waits ? { pending_approval: 'true' } : {}) };
  const key = peer.derived.setup_key_name;
  return [
    way === 'user'
      ? { code: 'peer.user.add', meta }
      : { code: 'peer.setupkey.add', meta: { ...meta, setup_key_name: key ?? '' } },
    ...eventsIf(waits, 'peer.pending.approval', meta),
  ];
}

/** Returns the events of an update: approval, sign-in, rename, switched flags, and a new address. */
export function updatedEvents(before: Stored<'Peer'>, after: Stored<'Peer'>, state: State): readonly AuditEvent[] {
  const meta = peerMeta(after, state);
  const oldIp = before.spec.ip ?? '';
  return [
    ...approvalEvents(before, after, meta),
    ...signOutEvents(before, after, meta, state),
    ...eventsIf(before.name !== after.name, 'peer.rename', meta),
    ...switchEvents(switchStems, before.spec, after.spec, meta),
    ...eventsIf(oldIp !== (after.spec.ip ?? ''), 'peer.ip.update', { ...meta, old_ip: oldIp }),
  ];
}

const locationFactNames = {
  location_city_name: 'city_name',
  location_country_code: 'country_code',
  location_geo_name_id: 'geoname_id',
  location_connection_ip: 'connection_ip',
};

/** Returns what is known about the location of a peer. */
function locationOf(peer: Stored<'Peer'>): Meta {
  const known = Object.entries(locationFactNames).flatMap(([name, fact]) => {
    const value = peer.derived[fact];
    return value === undefined || value === '' ? [] : [[name, String(value)] as const];
  });
  return Object.fromEntries(known);
}

function approvalEvents(before: Stored<'Peer'>, after: Stored<'Peer'>, meta: Meta): readonly AuditEvent[] {
  const waits = after.spec.approval_required === true;
  if ((before.spec.approval_required === true) === waits) return [];
  return [{ code: waits ? 'peer.approval.revoke' : 'peer.approve', meta }];
}

function signOutEvents(before: Stored<'Peer'>, after: Stored<'Peer'>, meta: Meta, state: State): readonly AuditEvent[] {
  const [was, is] = [before, after].map(({ derived }) => derived.login_expired === true);
  if (was === is) return [];
  if (was) return [{ code: 'user.peer.login', meta }];
  const isBlocked = state.find('User', after.spec.user_id ?? '')?.spec.is_blocked === true;
  return [
    {
      code: 'peer.login.expire',
      meta: {
        ...meta,
        reason: isBlocked ? 'blocked owner account' : (after.derived.expiry_reason ?? 'expired'),
      },
    },
  ];
}
