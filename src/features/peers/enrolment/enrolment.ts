import { extraSettingsOf } from '../../../commit/account-settings.ts';
import { storedObject } from '../../../commit/bootstrap.ts';
import { planEdits } from '../../../commit/edits.ts';
import type { Engine } from '../../../commit/engine.ts';
import type { JsonObject } from '../../../lib/json.ts';
import type { Actor } from '../../../model/declare/actor.ts';
import { isReservedPeer } from '../../../model/declare/peer-claims.ts';
import { wireId } from '../../../model/declare/wire-id.ts';
import { Conflict, NotAllowed, Unauthenticated } from '../../../model/errors.ts';
import { canonicalSpec } from '../../../model/schema/normalize.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import type { Stored } from '../../../model/state/stored.ts';
import { errorForProblems } from '../../../objects/objects.ts';
import type { Edit } from '../../../plan/finish.ts';

/** The setup key or user that authorizes a new peer, and the revision at which it was found. */
export type Authorizer =
  | { readonly way: 'setup_key'; readonly id: string; readonly hash: string; readonly revision: number }
  | { readonly way: 'user'; readonly actor: Actor; readonly revision: number };

/** A machine that wants to become a peer. */
export interface EnrolmentRequest {
  readonly account: string;
  readonly authorizer: Authorizer;
  readonly name: string;
  readonly hostname: string;
  /** Base64, as WireGuard writes keys. */
  readonly tunnelKey: string;
  /** Base64url. */
  readonly signingKey: string;
  readonly extraLabels: readonly string[];
  /** Location of the machine, as far as its address shows it. */
  readonly location: JsonObject;
  /** Facts that the machine reported about itself. */
  readonly facts?: JsonObject;
}

/** An enrolled peer, and a state that contains it. */
export interface Enrolled {
  readonly peer: Stored<'Peer'>;
  readonly state: Snapshot;
}

/**
 * Enrols a machine in one revision, with all changes that follow from it. Throws the reason when the machine is
 * refused.
 */
export async function enrolPeer(engine: Engine, request: EnrolmentRequest): Promise<Enrolled> {
  const { account, authorizer, location, facts } = request;
  let id = engine.newId();
  const actor = await actorOf(engine, request);
  const committed = await engine.committer.mutate({
    account,
    actor,
    revision: authorizer.revision,
    propose: (state) => {
      const edits = editsFor(engine, state, request, id);
      id = edits.id;
      return planEdits(engine, state, edits.edits, edits.now);
    },
    // The peer and everything that it reported are stored by one commit, or not at all.
    peerUpdates: () => [
      {
        ...{ peer: id, location },
        ...(authorizer.way === 'user' ? { signedIn: true } : {}),
        ...(facts === undefined ? {} : { facts }),
      },
    ],
  });
  if (!committed.ok) throw errorForProblems(committed.problems);
  engine.presence.reportWrite(account);
  const peer = committed.after.find('Peer', id);
  if (peer === undefined) throw new Error(`the peer ${id} was gone before its enrolment could be answered`);
  return { peer, state: committed.after };
}

/** Returns the actor of an enrolment. With a setup key, the key itself is the actor. */
async function actorOf({ registry, snapshots }: Engine, { account, authorizer }: EnrolmentRequest): Promise<Actor> {
  if (authorizer.way === 'user') return authorizer.actor;
  const name = (await snapshots.atLeast(account, authorizer.revision)).get(authorizer.id)?.name ?? 'setup key';
  return { type: 'system', id: String(wireId(registry.get('SetupKey'), authorizer.id)), name };
}

/** The edits of an enrolment, and the id of the peer. */
interface Edits {
  readonly id: string;
  readonly edits: readonly Edit[];
  readonly now: string;
}

function editsFor(engine: Engine, state: Snapshot, request: EnrolmentRequest, id: string): Edits {
  const now = engine.now();
  const { tunnelKey, extraLabels, authorizer } = request;
  const kind = engine.registry.get('Peer');
  const claim = state.findByUnique('Peer', 'wg_pub_key', tunnelKey);
  const isTaken = state.findByUnique('ProxyPeer', 'wg_pub_key', tunnelKey) !== undefined;
  if (isTaken || (claim !== undefined && !isReservedPeer(claim)))
    throw new Conflict('taken', 'a peer with this key already exists; log in, or enrol with a new key pair');
  const isMaker = authorizer.way === 'user' && claim?.derived.made_by === authorizer.actor.id;
  // An actor who manages the account from another one is not a user of it. Such an actor can only complete the
  // temporary peer that it requested before.
  if (isMaker && claim !== undefined && authorizer.actor.granted !== undefined)
    return { id: claim.id, edits: [completeTemporaryPeer(claim, request, now)], now };
  const by =
    authorizer.way === 'user' ? authorizeByUser(state, authorizer.actor) : authorizeBySetupKey(engine, state, request);
  if (extraLabels.length > 0 && !by.mayUseExtraLabels)
    throw new NotAllowed('extra DNS labels need a setup key that allows them (`allow_extra_dns_labels`)');
  if (isMaker && claim !== undefined) return { id: claim.id, edits: [completeTemporaryPeer(claim, request, now)], now };
  const foreign = extraLabels.find((label) => state.findByUnique(kind.name, 'dns_label', label) !== undefined);
  // Several peers may share an extra label, but an extra label must not be another peer's own label.
  if (foreign !== undefined)
    throw new Conflict('taken', `a peer with the label \`${foreign}\` already exists; choose another extra DNS label`);
  const waits = requiresApproval(state);
  const spec = canonicalSpec(kind, {
    name: request.name,
    hostname: request.hostname,
    wg_pub_key: tunnelKey,
    signing_key: request.signingKey,
    extra_dns_labels: extraLabels,
    ssh_enabled: false,
    ...by.spec,
    approval_required: waits,
  }).spec;
  const reason = waits ? { disapproval_reason: 'new peers of this account need the approval of an administrator' } : {};
  const derived = { ...request.location, ...by.derived, ...reason };
  const after = storedObject(engine, { id, kind: kind.name, spec, derived }, now);
  // A machine that proves its key may use it, even if a temporary peer was reserved for the key. The reserved peer is
  // deleted.
  const leaving: readonly Edit[] = claim === undefined ? [] : [{ before: claim, internal: true }];
  return { id, edits: [...leaving, { after, given: { enrolment: { ...by.given, at: now } } }], now };
}

/** Completes the temporary peer that was reserved for this key: it has a machine now. */
function completeTemporaryPeer(before: Stored<'Peer'>, { signingKey, location }: EnrolmentRequest, now: string): Edit {
  const spec = { ...before.spec, signing_key: signingKey };
  return {
    before,
    after: { ...before, spec, derived: { ...before.derived, ...location }, updatedAt: now },
    internal: true,
  };
}

/** Consequences of the authorization by a user or a setup key. */
interface AuthorizationTerms {
  readonly spec: JsonObject;
  readonly derived: JsonObject;
  readonly given: JsonObject;
  readonly mayUseExtraLabels: boolean;
}

function authorizeByUser(state: Snapshot, { id, granted }: Actor): AuthorizationTerms {
  const user = state.find('User', id);
  if (user === undefined && granted !== undefined)
    throw new NotAllowed(
      'users of the managing account cannot have machines of their own in this account; enrol with a setup key of this account',
    );
  if (user === undefined) throw new Unauthenticated('the user does not exist any more');
  if (user.spec.is_blocked === true) throw new NotAllowed('user is blocked');
  if (user.derived.pending_approval === true)
    throw new NotAllowed('the user waits for the approval of an administrator and cannot enrol peers until then');
  return {
    spec: { user_id: id, login_expiration_enabled: true, inactivity_expiration_enabled: true, ephemeral: false },
    derived: { enrolled_by: 'user' },
    given: { groups: user.spec.auto_groups ?? [] },
    mayUseExtraLabels: false,
  };
}

const refusals: Readonly<Record<string, string>> = {
  expired: 'the setup key has expired; ask an administrator for a new one',
  revoked: 'the setup key is revoked; ask an administrator for another one',
  overused: 'the setup key has reached its usage limit; ask an administrator for another one',
};

function authorizeBySetupKey(engine: Engine, state: Snapshot, { authorizer }: EnrolmentRequest): AuthorizationTerms {
  const kind = engine.registry.get('SetupKey');
  const key = authorizer.way === 'setup_key' ? state.find('SetupKey', authorizer.id) : undefined;
  if (authorizer.way !== 'setup_key' || key === undefined) throw new Unauthenticated('setup key invalid');
  const now = engine.now();
  const former = key.derived.former?.find(({ key_hash }) => key_hash === authorizer.hash);
  if (former === undefined && key.derived.key_hash !== authorizer.hash) throw new Unauthenticated('setup key invalid');
  // A replaced value of a setup key stays valid only until its own expiry.
  const hasEnded = former !== undefined && former.expires <= now;
  const standing = hasEnded ? 'expired' : kind.computed['state']?.value(key, state.viewedAs({ now, viewer: '' }));
  if (standing !== 'valid') throw new NotAllowed(refusals[String(standing)] ?? 'the setup key cannot enrol peers');
  return {
    spec: {
      login_expiration_enabled: false,
      inactivity_expiration_enabled: false,
      ephemeral: key.spec.ephemeral === true,
    },
    derived: { enrolled_by: 'setup_key', setup_key: key.id, setup_key_name: key.name },
    given: { groups: key.spec.auto_groups ?? [], setup_key: key.id },
    mayUseExtraLabels: key.spec.allow_extra_dns_labels === true,
  };
}

/** Returns whether new peers of the account need an approval. */
function requiresApproval(state: Snapshot): boolean {
  return extraSettingsOf(state).peer_approval_enabled === true;
}
