import type { Call, Engine } from '../../commit/engine.ts';
import { isOffline } from '../../commit/presence.ts';
import { portsOn } from '../../model/state/ingress-ports.ts';
import { forwardingOf, type Takeovers, takeoversIn } from '../../model/state/ingress-takeovers.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import type { Stored } from '../../model/state/stored.ts';
import { createKindNameReadCheck } from '../../objects/object-list.ts';
import type { AccountStatus } from '../../operations/config/status.ts';

type OfflineIngressPeer = NonNullable<AccountStatus['ingress']>[number];

/**
 * Returns the ingress peers with ports whose peers are offline, as far as the caller may read them, and names the peers
 * that forward instead.
 */
export async function findOfflineIngressPeers(engine: Engine, call: Call): Promise<readonly OfflineIngressPeer[]> {
  const state = await engine.snapshots.atLeast(call.account, call.revision);
  if (!createKindNameReadCheck(state, call)('IngressPeer')) return [];
  const used = state
    .ofKind('IngressPeer')
    .filter((one) => one.spec.enabled === true && enabledPortsOf(one, state).length > 0);
  if (used.length === 0) return [];
  const { peers, now } = await engine.presence.read(call.account);
  const isAway = (peer: string) => isOffline(peers.get(peer), now);
  const away = used.filter(({ spec }) => isAway(spec.peer_id ?? ''));
  if (away.length === 0) return [];
  const disapprovalIn = await engine.access.readDisapprovals(call.account);
  const isKeptOut = (peer: string) => disapprovalIn(state, peer) !== undefined;
  const takeovers = takeoversIn(state, { isOffline: isAway, isExcluded: isKeptOut });
  return away.map((one) => ({
    ...{ id: one.id, ...(one.key === undefined ? {} : { key: one.key }) },
    message: messageOf(one, state, takeovers),
  }));
}

function enabledPortsOf(ingressPeer: Stored<'IngressPeer'>, state: Snapshot): readonly Stored<'IngressPort'>[] {
  return portsOn(ingressPeer, state).filter(({ spec }) => spec.enabled === true);
}

function messageOf(ingressPeer: Stored<'IngressPeer'>, state: Snapshot, takeovers: Takeovers): string {
  const ports = enabledPortsOf(ingressPeer, state);
  const moved = ports.flatMap((port) => {
    const by = forwardingOf(port, takeovers)?.ingressPeer ?? ingressPeer.id;
    return by === ingressPeer.id ? [] : [peerNameOf(state.find('IngressPeer', by), state)];
  });
  return `the peer ${peerNameOf(ingressPeer, state)} is offline; ${describeReplacements(ports.length, moved)}`;
}

/**
 * Returns the text about replacements. `by` contains, for each port that another peer forwards now, the name of that
 * peer.
 */
function describeReplacements(ports: number, by: readonly string[]): string {
  const all = ports === 1 ? 'its port' : `its ${ports} ports`;
  if (by.length === 0) return `nothing forwards ${all} until it is back`;
  const names = [...new Set(by)].sort().join(', ');
  if (by.length === ports) return `${all} ${ports === 1 ? 'is' : 'are'} forwarded by ${names}`;
  return `${by.length} of ${all} ${by.length === 1 ? 'is' : 'are'} forwarded by ${names}, and the others are not forwarded until it is back`;
}

function peerNameOf(ingressPeer: Stored<'IngressPeer'> | undefined, state: Snapshot): string {
  const id = ingressPeer?.spec.peer_id ?? '';
  return state.find('Peer', id)?.name ?? id;
}
