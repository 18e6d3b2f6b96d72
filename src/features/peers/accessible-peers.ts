import { accessiblePeers } from '../../access/evaluate/neighbours.ts';
import type { Call, Engine } from '../../commit/engine.ts';
import { observedIn } from '../../commit/presence.ts';
import type { State } from '../../model/declare/kind.ts';
import { NotFound } from '../../model/errors.ts';
import type { StoredObject } from '../../model/state/object.ts';
import { isAllowed } from '../../plan/checks/authorize.ts';

/** Peers to which a peer may open a connection, and the state by which answers show them. */
export interface AccessiblePeers {
  readonly peers: readonly StoredObject[];
  readonly state: State;
}

/**
 * Returns the peers to which a peer may open a connection, in the order of their ids. For callers who may not read
 * peers, the list is empty unless the peer is their own. Throws `NotFound`.
 */
export async function readAccessiblePeers(engine: Engine, call: Call, id: string): Promise<AccessiblePeers> {
  const state = await engine.snapshots.atLeast(call.account, call.revision);
  const kind = engine.registry.get('Peer');
  const peer = state.get(id);
  if (peer === undefined || peer.kind !== kind.name) throw new NotFound(`peer ${id} not found`);
  const observed = observedIn(await engine.presence.read(call.account));
  const seen = state.viewedAs({ now: engine.now(), viewer: call.actor.id, observed });
  const isVisible =
    isAllowed(state, call.actor, kind.module, 'read') || kind.isOwn?.(peer, call.actor.id, state) === true;
  if (!isVisible) return { peers: [], state: seen };
  const { sure } = accessiblePeers(await engine.access.current(state), id);
  return { peers: sure.flatMap((other) => state.get(other) ?? []), state: seen };
}
