import { type AccountSettings, settingsOf } from '../../../commit/account-settings.ts';
import type { PeerStatus, PresenceImage } from '../../../commit/presence.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import type { Stored } from '../../../model/state/stored.ts';

/** Reason why the time of a peer, or of its login, is over. */
export type DueReason = 'login' | 'inactivity' | 'ephemeral' | 'temporary';

/** A peer that is due to be changed or deleted, and the reason. */
export interface DuePeer {
  readonly id: string;
  readonly reason: DueReason;
}

const minute = 60_000;

/** Time after which a disconnected ephemeral peer is deleted, in milliseconds. */
const ephemeralMs = 10 * minute;
/**
 * Times after which a temporary peer is deleted, in milliseconds: when it is disconnected, and when it never connected.
 */
const [temporaryMs, arrivalMs] = [30_000, 10 * minute];

/** Returns the peers whose login has expired, or that have to be deleted. */
export function duePeers(state: Snapshot, { peers, now }: PresenceImage): readonly DuePeer[] {
  const at = Date.parse(now);
  const settings = settingsOf(state);
  return state.ofKind('Peer').flatMap((peer) => {
    const reason = dueReason(peer, peers.get(peer.id), settings, at);
    return reason === undefined ? [] : [{ id: peer.id, reason }];
  });
}

/** Returns the reason why the time of a peer, or of its login, is over. `undefined` when it is not. */
export function dueReason(
  peer: Stored<'Peer'>,
  status: PeerStatus | undefined,
  settings: AccountSettings,
  now: number,
): DueReason | undefined {
  const away = status?.connected === true ? 0 : now - lastConnectedAt(peer, status);
  if (peer.derived.temporary === true)
    return away >= (status?.stream === undefined ? arrivalMs : temporaryMs) ? 'temporary' : undefined;
  if (peer.spec.ephemeral === true) return away >= ephemeralMs ? 'ephemeral' : undefined;
  if (peer.spec.user_id === undefined || peer.spec.user_id === '' || peer.derived.login_expired === true)
    return undefined;
  const asks = (what: 'login' | 'inactivity'): boolean =>
    settings[`peer_${what}_expiration_enabled`] === true && peer.spec[`${what}_expiration_enabled`] === true;
  const period = (what: 'login' | 'inactivity'): number => Number(settings[`peer_${what}_expiration`]) * 1000;
  const login = Date.parse(status?.lastLogin ?? peer.createdAt);
  if (asks('login') && now - login >= period('login')) return 'login';
  return asks('inactivity') && away > 0 && away >= period('inactivity') ? 'inactivity' : undefined;
}

/** Returns the time at which the peer was last connected, else the time of its creation, in milliseconds. */
function lastConnectedAt(peer: Stored<'Peer'>, status: PeerStatus | undefined): number {
  return Date.parse(status?.lastSeen ?? peer.createdAt);
}
