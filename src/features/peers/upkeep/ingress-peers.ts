import type { Engine } from '../../../commit/engine.ts';
import { isOffline, type PresenceImage } from '../../../commit/presence.ts';
import { reportOffline } from '../../../db/peers/offline-reports.ts';
import type { Actor } from '../../../model/declare/actor.ts';
import { portsOn } from '../../../model/state/ingress-ports.ts';
import { type Takeovers, takeoversIn } from '../../../model/state/ingress-takeovers.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import type { Stored } from '../../../model/state/stored.ts';

/** Writes an audit event, once across all servers, for each ingress peer that went offline or is online again. */
export async function reportIngressPeers(
  engine: Engine,
  actor: Actor,
  state: Snapshot,
  { peers, now }: PresenceImage,
): Promise<void> {
  const disapprovalIn = await engine.access.readDisapprovals(state.account);
  const takeovers = takeoversIn(state, {
    isOffline: (peer) => isOffline(peers.get(peer), now),
    isExcluded: (peer) => disapprovalIn(state, peer) !== undefined,
  });
  for (const ingressPeer of state.ofKind('IngressPeer')) {
    const peer = ingressPeer.spec.peer_id ?? '';
    const status = peers.get(peer);
    const offline = isOffline(status, now);
    // A peer that never connected cannot go offline.
    if (status === undefined || status.lastSeen === undefined || (status.offlineReported ?? false) === offline)
      continue;
    const change = offline ? 'offline' : 'online';
    const event = {
      code: `ingress.peer.${change}`,
      target: ingressPeer.id,
      meta: metaOf(ingressPeer, state, takeovers),
    } as const;
    if (!(await reportOffline(engine.database, state.account, { peer, offline, actor, event, at: now }))) continue;
    engine.notices.publish({ what: 'deliveries', account: state.account });
    engine.observer.report({ what: 'ingress_peer', state: change });
  }
}

function metaOf(ingressPeer: Stored<'IngressPeer'>, state: Snapshot, takeovers: Takeovers) {
  const peer = ingressPeer.spec.peer_id ?? '';
  const ports = portsOn(ingressPeer, state);
  const takenOver = ports.filter(({ id }) => takeovers.get(id) !== undefined).length;
  return {
    ...{ peer_id: peer, peer_name: state.get(peer)?.name ?? '' },
    ...{ ports: String(ports.length), taken_over: String(takenOver) },
  };
}
