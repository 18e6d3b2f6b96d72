import { NotAllowed } from '../model/errors.ts';
import type { Snapshot } from '../model/snapshot.ts';
import { derive, planEdits } from './edits.ts';
import type { Call, Engine } from './engine.ts';
import type { Enrolled } from './enrolment.ts';
import { refusalOf } from './objects.ts';

/**
 * Signs a peer in: nothing happens to one whose login holds, an expired one needs the user whose peer it is. Throws
 * `NotAllowed`.
 */
export async function signInPeer(engine: Engine, { peer, state }: Enrolled, call?: Call): Promise<Enrolled> {
  if (call !== undefined && peer.spec['user_id'] !== call.actor.id)
    throw new NotAllowed('the peer belongs to another user; sign in as the one who enrolled it');
  if (peer.derived['login_expired'] !== true) return { peer, state };
  if (call === undefined)
    throw new NotAllowed('the login of the peer has expired; log in with the access token of its user');
  const committed = await engine.committer.mutate({
    account: state.account,
    actor: call.actor,
    revision: state.revision,
    propose: (now) => planSignIn(engine, now, peer.id),
  });
  if (!committed.ok) throw refusalOf(committed.problems);
  return { peer: committed.after.get(peer.id) ?? peer, state: committed.after };
}

function planSignIn(engine: Engine, state: Snapshot, id: string) {
  const peer = state.get(id);
  const signedIn = { login_expired: undefined, expiry_reason: undefined };
  return planEdits(engine, state, peer === undefined ? [] : [derive(engine, peer, signedIn)]);
}
