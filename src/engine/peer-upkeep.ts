import type { Actor } from '../model/actor.ts';
import { HeddleError } from '../model/errors.ts';
import type { StoredObject } from '../model/object.ts';
import type { Snapshot } from '../model/snapshot.ts';
import type { Outcome } from '../plan/plan.ts';
import { planDelete } from '../plan/requests.ts';
import { forgetNonces } from '../store/agent-nonces.ts';
import type { Lease } from '../store/leases.ts';
import { dropDeadServers } from '../store/peer-status.ts';
import { settingsOf } from './account-settings.ts';
import { type DuePeer, duePeers, dueReason } from './due-peers.ts';
import { derive, planEdits } from './edits.ts';
import type { Engine } from './engine.ts';
import { contextOf } from './objects.ts';
import type { PresenceImage } from './presence.ts';

/** Whoever ends what nobody has to end by hand. */
export const clock: Actor = { type: 'system', id: 'sys', name: 'system' };

/** What was done, and what could not be done. */
export interface Upkeep {
  readonly done: readonly DuePeer[];
  readonly failed: readonly { readonly peer: DuePeer; readonly message: string }[];
}

/**
 * Does what is due about the peers of an account: servers that died take their peers with them, logins end, and peers that
 * were here for a while go. Each is a revision of its own, under the lease of who does it; what is refused is told.
 */
export async function keepPeers(engine: Engine, account: string, lease: Lease): Promise<Upkeep> {
  await dropDeadServers(engine.database, account);
  await forgetNonces(engine.database, account);
  const image = await engine.presence.at(account);
  const state = await engine.snapshots.fresh(account);
  // The state is newer than the image: what it lacks is gone.
  const gone = [...image.peers.keys()].filter((id) => state.get(id) === undefined);
  engine.presence.forget(account, gone);
  const due = duePeers(state, image);
  const results = await Promise.all(
    due.map(async (peer) => {
      try {
        return { peer, message: await settle(engine, state, image, peer, lease) };
      } catch (error) {
        if (!(error instanceof HeddleError)) throw error;
        return { peer, message: error.message };
      }
    }),
  );
  return {
    done: results.filter(({ message }) => message === '').map(({ peer }) => peer),
    failed: results.filter(({ message }) => message !== ''),
  };
}

/** Answers why it could not be done, nothing when it was. */
async function settle(
  engine: Engine,
  state: Snapshot,
  image: PresenceImage,
  due: DuePeer,
  lease: Lease,
): Promise<string> {
  const committed = await engine.committer.mutate({
    account: state.account,
    actor: actorOf(state, due),
    revision: state.revision,
    lease,
    propose: (now) => planDue(engine, now, image, due),
  });
  return committed.ok ? '' : committed.problems.map(({ message }) => message).join('; ');
}

/** A login ends on behalf of the user whose it was. */
function actorOf(state: Snapshot, { id, reason }: DuePeer): Actor {
  if (reason !== 'login' && reason !== 'inactivity') return clock;
  const user = state.get(String(state.get(id)?.spec['user_id'] ?? ''));
  return user === undefined ? clock : { type: 'system', id: user.id, name: user.name };
}

function planDue(engine: Engine, state: Snapshot, image: PresenceImage, due: DuePeer): Outcome {
  const peer = state.get(due.id);
  // Somebody may have changed it in the meantime.
  const reason = peer && dueReason(peer, image.peers.get(peer.id), settingsOf(state), Date.parse(image.now));
  if (peer === undefined || reason === undefined) return planEdits(engine, state, []);
  if (reason === 'login' || reason === 'inactivity') return planExpiry(engine, state, peer, reason);
  const call = { account: state.account, actor: clock, revision: state.revision };
  return planDelete(contextOf(engine, call, state, { strict: false }), engine.registry.get(peer.kind), peer);
}

const reasons = { login: 'login expired', inactivity: 'inactive for too long' };

function planExpiry(engine: Engine, state: Snapshot, before: StoredObject, reason: keyof typeof reasons): Outcome {
  const expired = derive(engine, before, { login_expired: true, expiry_reason: reasons[reason] });
  return planEdits(engine, state, [expired]);
}
