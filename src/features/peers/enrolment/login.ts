import { editDerivedFacts, planEdits } from '../../../commit/edits.ts';
import type { Call, Engine } from '../../../commit/engine.ts';
import { NotAllowed } from '../../../model/errors.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import type { Stored } from '../../../model/state/stored.ts';
import { errorForProblems } from '../../../objects/objects.ts';
import type { Enrolled } from './enrolment.ts';

/**
 * Throws `NotAllowed` for a peer whose user is blocked or waits for an approval: such users cannot use the network by
 * their machines either.
 */
export function requireActiveUser(state: Snapshot, peer: Stored<'Peer'>): void {
  const user = state.find('User', peer.spec.user_id ?? '');
  if (user?.derived.pending_approval === true) throw new NotAllowed('the user of the peer is pending approval');
  if (user?.spec.is_blocked === true) throw new NotAllowed('the user of the peer is blocked');
}

/** Throws `NotAllowed` when the caller who signs a peer in is not the user of the peer. */
export function requireOwnPeer(peer: Stored<'Peer'>, call: Call): void {
  if (peer.spec.user_id === call.actor.id) return;
  throw new NotAllowed('the peer belongs to another user; sign in as the user who enrolled it');
}

/**
 * Signs a peer in by its user. Does nothing when the login is valid. The sign-in is recorded before the state is read.
 * So an expiry that missed the sign-in is already in the state, or finds the sign-in when it checks again.
 */
export async function signInPeer(engine: Engine, { peer, state }: Enrolled, call: Call): Promise<Enrolled> {
  if (peer.derived.login_expired !== true) return { peer, state };
  const committed = await engine.committer.mutate({
    account: state.account,
    actor: call.actor,
    revision: state.revision,
    propose: (now) => planSignIn(engine, now, peer.id),
  });
  if (!committed.ok) throw errorForProblems(committed.problems);
  return { peer: committed.after.find('Peer', peer.id) ?? peer, state: committed.after };
}

/** Plans that the login of a peer is valid again. */
export function planSignIn(engine: Engine, state: Snapshot, id: string) {
  const peer = state.find('Peer', id);
  const signedIn = { login_expired: undefined, expiry_reason: undefined };
  if (peer === undefined) return planEdits(engine, state, []);
  requireActiveUser(state, peer);
  return planEdits(engine, state, [editDerivedFacts(engine, peer, signedIn)]);
}
