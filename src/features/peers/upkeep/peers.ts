import { settingsOf } from '../../../commit/account-settings.ts';
import type { Mutation } from '../../../commit/commit.ts';
import { editDerivedFacts, planEdits } from '../../../commit/edits.ts';
import type { Engine } from '../../../commit/engine.ts';
import type { PresenceImage } from '../../../commit/presence.ts';
import { type Lease, renewLease } from '../../../db/leases/leases.ts';
import { deleteExpiredNonces } from '../../../db/peers/agent-nonces.ts';
import { disconnectPeersOfDeadServers } from '../../../db/peers/peer-status.ts';
import type { Actor } from '../../../model/declare/actor.ts';
import { HeddleError } from '../../../model/errors.ts';
import { joinMessages } from '../../../model/problem.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import type { Stored } from '../../../model/state/stored.ts';
import { contextOf } from '../../../objects/objects.ts';
import type { PlanOutcome } from '../../../plan/plan.ts';
import { planServerDelete } from '../../../plan/requests/requests.ts';
import { planSignIn } from '../enrolment/login.ts';
import { type DuePeer, type DueReason, duePeers, dueReason } from './due-peers.ts';
import { reportIngressPeers } from './ingress-peers.ts';

/** Actor of changes that happen because a time has passed. */
export const systemActor: Actor = { type: 'system', id: 'sys', name: 'system' };

/** Peers that were processed, and peers that could not be processed. */
export interface UpkeepResult {
  readonly done: readonly DuePeer[];
  readonly failed: readonly { readonly peer: DuePeer; readonly message: string }[];
}

/**
 * Pace of the work: the number of peers in one batch, and the time for which the lease is renewed before each batch, in
 * seconds.
 */
export interface UpkeepPace {
  /**
   * True right after the start of a server: only logins expire. Machines are still reconnecting, so no peer counts as
   * disconnected yet.
   */
  readonly loginsOnly?: boolean;
  readonly batchSize?: number;
  readonly leaseSeconds?: number;
}

/**
 * Does everything that is due for the peers of an account: disconnects the peers of dead servers, expires logins, and
 * deletes temporary and ephemeral peers. Each change is a separate revision, made under the lease of this server.
 * Refusals are returned. Ingress peers that went offline or are online again are written to the audit log.
 */
export async function maintainPeers(
  engine: Engine,
  account: string,
  lease: Lease,
  pace: UpkeepPace = {},
): Promise<UpkeepResult> {
  const { batchSize = 200, leaseSeconds = 60, loginsOnly = false } = pace;
  if (!loginsOnly) await disconnectPeersOfDeadServers(engine.database, account);
  await deleteExpiredNonces(engine.database, account);
  const image = await engine.presence.read(account);
  const state = await engine.snapshots.fresh(account);
  // The state is newer than the image, so peers that are missing in it were deleted.
  const gone = [...image.peers.keys()].filter((id) => state.get(id) === undefined);
  engine.presence.forget(account, gone);
  const due = duePeers(state, image).filter(({ reason }) => !loginsOnly || reason === 'login');
  const results: PeerResult[] = [];
  for (let at = 0; at < due.length; at += batchSize) {
    // Thousands of changes take longer than a lease lasts. When the lease is lost, the new lease holder continues.
    if (!(await renewLease(engine.database, lease, leaseSeconds))) break;
    results.push(...(await applyDueChanges(engine, state, due.slice(at, at + batchSize), lease)));
  }
  await revertRacedExpiries(engine, account, lease, results);
  if (!loginsOnly) await reportIngressPeers(engine, systemActor, state, image);
  return {
    done: results.filter(({ message }) => message === '').map(({ peer }) => peer),
    failed: results.filter(({ message }) => message !== ''),
  };
}

interface PeerResult {
  readonly peer: DuePeer;
  /** Reason why the change was refused. Empty when it was made. */
  readonly message: string;
}

async function applyDueChanges(
  engine: Engine,
  state: Snapshot,
  due: readonly DuePeer[],
  lease: Lease,
): Promise<readonly PeerResult[]> {
  let read: Promise<PresenceImage> | undefined;
  // Read once for all peers, when the first one is planned, because peers may have reconnected since they were found.
  const presence = (): Promise<PresenceImage> => {
    read ??= engine.presence.read(state.account);
    return read;
  };
  return await Promise.all(
    due.map(async (peer) => {
      const propose: Mutation['propose'] = async (now) => planDue(engine, now, await presence(), peer);
      return { peer, message: await commit(engine, state, { actor: actorOf(state, peer), lease, propose }) };
    }),
  );
}

/** Returns the reason why the change was refused, an empty string when it was made. */
async function commit(
  engine: Engine,
  { account, revision }: Pick<Snapshot, 'account' | 'revision'>,
  mutation: Pick<Mutation, 'actor' | 'lease' | 'propose'>,
): Promise<string> {
  try {
    const committed = await engine.committer.mutate({ account, revision, ...mutation });
    return committed.ok ? '' : joinMessages(committed.problems);
  } catch (error) {
    if (!(error instanceof HeddleError)) throw error;
    return error.message;
  }
}

/**
 * Reverts the expiry of logins whose users signed in at the same moment. A sign-in is recorded first and reads the
 * state afterwards, so at least one of the two sees the other.
 */
async function revertRacedExpiries(
  engine: Engine,
  account: string,
  lease: Lease,
  results: readonly PeerResult[],
): Promise<void> {
  const ended = results.filter(({ peer: { reason }, message }) => message === '' && isLoginReason(reason));
  if (ended.length === 0) return;
  const image = await engine.presence.read(account);
  const state = await engine.snapshots.fresh(account);
  for (const { peer } of ended) {
    const now = state.find('Peer', peer.id);
    const isRunning =
      now !== undefined &&
      dueReason(withValidLogin(now), image.peers.get(peer.id), settingsOf(state), Date.parse(image.now)) === undefined;
    if (!isRunning || now.derived.login_expired !== true) continue;
    await commit(engine, state, {
      ...{ actor: actorOf(state, peer), lease },
      propose: (fresh) => planSignIn(engine, fresh, peer.id),
    });
  }
}

/** Returns the peer as if its login were valid. */
function withValidLogin(peer: Stored<'Peer'>): Stored<'Peer'> {
  const { login_expired: _, ...derived } = peer.derived;
  return { ...peer, derived };
}

function isLoginReason(reason: DueReason): reason is keyof typeof expiryReasons {
  return reason in expiryReasons;
}

/** Returns the actor of a change. For the end of a login, it is the user of the peer. */
function actorOf(state: Snapshot, { id, reason }: DuePeer): Actor {
  if (!isLoginReason(reason)) return systemActor;
  const user = state.find('User', state.find('Peer', id)?.spec.user_id ?? '');
  return user === undefined ? systemActor : { type: 'system', id: user.id, name: user.name };
}

function planDue(engine: Engine, state: Snapshot, image: PresenceImage, due: DuePeer): PlanOutcome {
  const peer = state.find('Peer', due.id);
  // The peer may have changed or reconnected since it was found.
  const reason = peer && dueReason(peer, image.peers.get(peer.id), settingsOf(state), Date.parse(image.now));
  if (peer === undefined || reason === undefined) return planEdits(engine, state, []);
  if (isLoginReason(reason)) return planExpiry(engine, state, peer, reason);
  const call = { account: state.account, actor: systemActor, revision: state.revision };
  return planServerDelete(contextOf(engine, call, state, { strict: false }), engine.registry.get(peer.kind), peer);
}

const expiryReasons = { login: 'login expired', inactivity: 'inactive for too long' };

function planExpiry(
  engine: Engine,
  state: Snapshot,
  before: Stored<'Peer'>,
  reason: keyof typeof expiryReasons,
): PlanOutcome {
  const expired = editDerivedFacts(engine, before, { login_expired: true, expiry_reason: expiryReasons[reason] });
  return planEdits(engine, state, [expired]);
}
