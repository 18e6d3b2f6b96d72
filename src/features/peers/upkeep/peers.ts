import { settingsOf } from '../../../commit/account-settings.ts';
import type { Mutation } from '../../../commit/commit.ts';
import { derive, planEdits } from '../../../commit/edits.ts';
import type { Engine } from '../../../commit/engine.ts';
import type { PresenceImage } from '../../../commit/presence.ts';
import { type Lease, renewLease } from '../../../db/leases/leases.ts';
import { forgetNonces } from '../../../db/peers/agent-nonces.ts';
import { dropDeadServers } from '../../../db/peers/peer-status.ts';
import type { Actor } from '../../../model/declare/actor.ts';
import { HeddleError } from '../../../model/errors.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import type { Stored } from '../../../model/state/stored.ts';
import { contextOf } from '../../../objects/objects.ts';
import type { Outcome } from '../../../plan/plan.ts';
import { planEnd } from '../../../plan/requests/requests.ts';
import { planSignIn } from '../enrolment/login.ts';
import { type DuePeer, type DueReason, duePeers, dueReason } from './due-peers.ts';
import { reportIngressPeers } from './ingress-peers.ts';

/** The actor of what ends by time. */
export const clock: Actor = { type: 'system', id: 'sys', name: 'system' };

/** What was done, and what could not be done. */
export interface Upkeep {
  readonly done: readonly DuePeer[];
  readonly failed: readonly { readonly peer: DuePeer; readonly message: string }[];
}

/** How the work is cut: so many at once, and the lease is kept for so long before each cut. */
export interface Pace {
  /** Only logins: machines still reconnect to a server that has just started, and none is taken for gone yet. */
  readonly loginsOnly?: boolean;
  readonly atOnce?: number;
  readonly leaseSeconds?: number;
}

/**
 * Does what is due about the peers of an account: peers of servers that died are disconnected, logins expire, and
 * temporary and ephemeral peers are removed. Each is a revision of its own, under the lease of this server; refusals
 * are reported. Ingress peers that went offline or came back are noted in the audit log.
 */
export async function keepPeers(engine: Engine, account: string, lease: Lease, pace: Pace = {}): Promise<Upkeep> {
  const { atOnce = 200, leaseSeconds = 60, loginsOnly = false } = pace;
  if (!loginsOnly) await dropDeadServers(engine.database, account);
  await forgetNonces(engine.database, account);
  const image = await engine.presence.at(account);
  const state = await engine.snapshots.fresh(account);
  // The state is newer than the image: what it lacks is gone.
  const gone = [...image.peers.keys()].filter((id) => state.get(id) === undefined);
  engine.presence.forget(account, gone);
  const due = duePeers(state, image).filter(({ reason }) => !loginsOnly || reason === 'login');
  const results: Settled[] = [];
  for (let at = 0; at < due.length; at += atOnce) {
    // Thousands take longer than a lease lasts; a server that lost it leaves the rest to its new holder.
    if (!(await renewLease(engine.database, lease, leaseSeconds))) break;
    results.push(...(await settleAll(engine, state, due.slice(at, at + atOnce), lease)));
  }
  await mendLogins(engine, account, lease, results);
  if (!loginsOnly) await reportIngressPeers(engine, clock, state, image);
  return {
    done: results.filter(({ message }) => message === '').map(({ peer }) => peer),
    failed: results.filter(({ message }) => message !== ''),
  };
}

interface Settled {
  readonly peer: DuePeer;
  /** Why it could not be done, empty when it was. */
  readonly message: string;
}

async function settleAll(
  engine: Engine,
  state: Snapshot,
  due: readonly DuePeer[],
  lease: Lease,
): Promise<readonly Settled[]> {
  let read: Promise<PresenceImage> | undefined;
  // Read once for all of them, when the first is planned: a peer may have reconnected until then.
  const presence = (): Promise<PresenceImage> => {
    read ??= engine.presence.at(state.account);
    return read;
  };
  return await Promise.all(
    due.map(async (peer) => {
      const propose: Mutation['propose'] = async (now) => planDue(engine, now, await presence(), peer);
      return { peer, message: await commit(engine, state, { actor: actorOf(state, peer), lease, propose }) };
    }),
  );
}

/** Answers why it could not be done, nothing when it was. */
async function commit(
  engine: Engine,
  { account, revision }: Pick<Snapshot, 'account' | 'revision'>,
  mutation: Pick<Mutation, 'actor' | 'lease' | 'propose'>,
): Promise<string> {
  try {
    const committed = await engine.committer.mutate({ account, revision, ...mutation });
    return committed.ok ? '' : committed.problems.map(({ message }) => message).join('; ');
  } catch (error) {
    if (!(error instanceof HeddleError)) throw error;
    return error.message;
  }
}

/**
 * Takes back what ended at the moment in which its user signed in: sign-ins are noted first and look at the state
 * afterwards, so that one of the two sees the other.
 */
async function mendLogins(engine: Engine, account: string, lease: Lease, results: readonly Settled[]): Promise<void> {
  const ended = results.filter(({ peer: { reason }, message }) => message === '' && isLogin(reason));
  if (ended.length === 0) return;
  const image = await engine.presence.at(account);
  const state = await engine.snapshots.fresh(account);
  for (const { peer } of ended) {
    const now = state.find('Peer', peer.id);
    const isRunning =
      now !== undefined &&
      dueReason(signedIn(now), image.peers.get(peer.id), settingsOf(state), Date.parse(image.now)) === undefined;
    if (!isRunning || now.derived.login_expired !== true) continue;
    await commit(engine, state, {
      ...{ actor: actorOf(state, peer), lease },
      propose: (fresh) => planSignIn(engine, fresh, peer.id),
    });
  }
}

/** The peer as it would be if its login held. */
function signedIn(peer: Stored<'Peer'>): Stored<'Peer'> {
  const { login_expired: _, ...derived } = peer.derived;
  return { ...peer, derived };
}

function isLogin(reason: DueReason): reason is keyof typeof reasons {
  return reason in reasons;
}

/** A login ends on behalf of the user whose it was. */
function actorOf(state: Snapshot, { id, reason }: DuePeer): Actor {
  if (!isLogin(reason)) return clock;
  const user = state.find('User', state.find('Peer', id)?.spec.user_id ?? '');
  return user === undefined ? clock : { type: 'system', id: user.id, name: user.name };
}

function planDue(engine: Engine, state: Snapshot, image: PresenceImage, due: DuePeer): Outcome {
  const peer = state.find('Peer', due.id);
  // It may have changed meanwhile, or reconnected.
  const reason = peer && dueReason(peer, image.peers.get(peer.id), settingsOf(state), Date.parse(image.now));
  if (peer === undefined || reason === undefined) return planEdits(engine, state, []);
  if (isLogin(reason)) return planExpiry(engine, state, peer, reason);
  const call = { account: state.account, actor: clock, revision: state.revision };
  return planEnd(contextOf(engine, call, state, { strict: false }), engine.registry.get(peer.kind), peer);
}

const reasons = { login: 'login expired', inactivity: 'inactive for too long' };

function planExpiry(engine: Engine, state: Snapshot, before: Stored<'Peer'>, reason: keyof typeof reasons): Outcome {
  const expired = derive(engine, before, { login_expired: true, expiry_reason: reasons[reason] });
  return planEdits(engine, state, [expired]);
}
