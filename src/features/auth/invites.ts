import type { Call, Engine } from '../../commit/engine.ts';
import { storeOnce, writeUntilKnown } from '../../commit/in-doubt.ts';
import { newIdFor } from '../../commit/new-id.ts';
import { type NewCredentials, putCredentials } from '../../db/accounts/credentials.ts';
import { deleteRecordsOfUsers } from '../../db/accounts/idp-records.ts';
import {
  consumeInvite,
  createInvite,
  deleteInvite,
  type FoundInvite,
  findInvite,
  type Invite,
  listInvites,
  type NewInvite,
  renewInvite,
} from '../../db/accounts/invites.ts';
import { lostValueError } from '../../db/repeated-requests.ts';
import type { AuditEvent } from '../../model/declare/kind.ts';
import { rightBeyondActor } from '../../model/declare/owner-groups.ts';
import { Conflict, InvalidInput, NotAllowed, NotFound } from '../../model/errors.ts';
import type { ProblemCode } from '../../model/problem-codes.ts';
import type { SpecOf } from '../../model/schema/field.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import type { inviteAcceptance, inviteRequest } from '../../operations/invites.ts';
import {
  activateInvitedUser,
  admitUser,
  auditEntry,
  type NewUserRequest,
  readNewUser,
  requireUser,
} from '../accounts/admission.ts';
import { inviteFault } from '../accounts/invite-sender.ts';
import { inviteLink, inviteMail } from './invite-mail.ts';
import { inviteProof, isInviteProof } from './invite-proof.ts';
import { inviteHash, newInviteToken } from './invite-tokens.ts';
import type { LocalSignIn } from './local-people.ts';
import { hashPassword } from './passwords.ts';

/** Answer to the caller who invites: the body, and a notice when no mail was sent. */
export interface InviteResult<T> {
  readonly body: T;
  readonly notice?: string;
}

/** Returns the invites of the account that create a user when accepted, oldest first. */
export async function readInvites(engine: Engine, call: Call) {
  requireLocalPasswords(engine);
  const now = engine.now();
  return (await listInvites(engine.database, call.account)).map((invite) => show(invite, now));
}

/** Invites a person, who becomes a user by accepting. */
export async function makeInvite(
  engine: Engine,
  people: LocalSignIn,
  call: Call,
  { expires_in: seconds, ...person }: SpecOf<typeof inviteRequest>,
) {
  requireLocalPasswords(engine);
  const request = await readNewUser(engine, call, { ...person, is_service_user: false }, { strict: false });
  // A repeated request gets the same id, and so finds the invite that its first attempt made.
  const id = newIdFor(engine, call);
  const invited = await listInvites(engine.database, call.account);
  const present = invited.find((one) => one.email.toLowerCase() === request.email.toLowerCase());
  if (present !== undefined) throw present.id === id ? lostValueError('invite') : alreadyInvitedError(request.email);
  const { token, hash } = newInviteToken(engine);
  const { email, name, role, groups } = request;
  const createdAt = engine.now();
  const invite: NewInvite = {
    ...{ account: call.account, id, hash, user: null, email, name, role, groups },
    ...{ createdBy: call.actor.id, createdAt, expiresAt: endOf(seconds, createdAt) },
  };
  const notice = await sendInviteMail(engine, people, call, { ...invite, token });
  const entry = auditEntry(call, createdAt, event('create', id, email));
  const times = { createdAt: new Date(createdAt), expiresAt: new Date(invite.expiresAt) };
  const made = { body: { ...show({ ...invite, ...times }, createdAt), invite_token: token }, ...notice };
  const find = () => isStored(engine, hash);
  const store = () => createInvite(engine.database, invite, entry, call.sealOnce?.(made));
  if (!(await storeOnce({ requestId: id }, find, store))) throw alreadyInvitedError(email);
  return made;
}

/** Gives an invite a new token and a new expiry. The old token becomes invalid. */
export async function regenerateInvite(
  engine: Engine,
  people: LocalSignIn,
  call: Call,
  id: string,
  { expires_in: seconds }: { readonly expires_in: number },
) {
  requireLocalPasswords(engine);
  const present = await requireInvite(engine, call, id);
  await requireRightsOfInvite(engine, call, present);
  const at = engine.now();
  const expiresAt = endOf(seconds, at);
  const { token, hash } = newInviteToken(engine);
  const notice = await sendInviteMail(engine, people, call, { ...present, expiresAt, token });
  const entry = auditEntry(call, at, event('regenerate', id, present.email));
  const renewed = { id, hash, createdBy: call.actor.id, expiresAt };
  const made = { body: { invite_token: token, invite_expires_at: expiresAt }, ...notice };
  const isDone = await storeOnce(
    { requestId: id },
    () => isStored(engine, hash),
    () => renewInvite(engine.database, call.account, renewed, entry, call.sealOnce?.(made)),
  );
  if (!isDone) throw missing(id);
  return made;
}

/** Deletes an invite. Throws `NotFound`. */
export async function removeInvite(engine: Engine, call: Call, id: string): Promise<void> {
  requireLocalPasswords(engine);
  const { email } = await requireInvite(engine, call, id);
  const entry = auditEntry(call, engine.now(), event('delete', id, email));
  // The invite existed a moment ago. If a repeated attempt does not find it, the attempt in doubt has deleted it.
  const isDone = await writeUntilKnown(
    { requestId: id },
    async (again) => (await deleteInvite(engine.database, call.account, id, entry)) || again,
  );
  if (!isDone) throw missing(id);
}

async function isStored(engine: Engine, hash: string): Promise<true | undefined> {
  return (await findInvite(engine.database, hash)) === undefined ? undefined : true;
}

/** Returns the facts about an invite that the holder of its token may see. */
export async function readPublicInvite(engine: Engine, token: string) {
  const invite = await findByToken(engine, token);
  const { account, revision, email, name, expiresAt, createdBy } = invite;
  const state = await engine.snapshots.atLeast(account, revision);
  const valid = expiresAt.toISOString() > engine.now() && inviteFault(state, invite) === undefined;
  return {
    ...{ email, name, expires_at: expiresAt.toISOString() },
    ...{ valid, invited_by: state.get(createdBy)?.name ?? '' },
  };
}

/** Accepts an invite: the person can sign in with the password afterwards. Works once per invite. */
export async function acceptInvite(
  engine: Engine,
  token: string,
  { password, proof }: SpecOf<typeof inviteAcceptance>,
): Promise<void> {
  // Hashes even when there is no such invite, so that the time of the answer is the same.
  const hash = await hashPassword(engine, password);
  const invite = await findByToken(engine, token);
  const at = engine.now();
  if (invite.expiresAt.toISOString() <= at)
    throw invalid('', 'invite_expired', 'the invite has expired; ask for a new one');
  try {
    const proved = isInviteProof(engine.planEnvironment.mailSigner, token, proof);
    await admitInvitee(engine, invite, { hash, at, proved }, inviteHash(token) ?? '');
  } catch (error) {
    // If a concurrent request has accepted the invite, the invite does not exist any more, and that is the error to
    // report.
    if (error instanceof Conflict) await findByToken(engine, token);
    throw error;
  }
}

async function admitInvitee(
  engine: Engine,
  invite: FoundInvite,
  chosen: Pick<NewCredentials, 'hash' | 'at' | 'proved'>,
  tokenHash: string,
): Promise<void> {
  const { account, revision, email, name } = invite;
  const state = await engine.snapshots.atLeast(account, revision);
  const check = (now: Snapshot): void => {
    const fault = inviteFault(now, invite);
    if (fault !== undefined) throw invalid('', 'invite_void', fault);
  };
  check(state);
  const id = invite.user ?? engine.newId();
  const call: Call = { account, revision, actor: { type: 'user', id, name: name === '' ? email : name, email } };
  const extraWrites = [
    consumeInvite(account, tokenHash),
    putCredentials({ account, email, user: id, oneTime: false, ...chosen }),
  ];
  if (invite.user !== null) {
    requireUser(state, id);
    // A user who was deleted and restored by a rollback may have had sessions, which the sign-in would make valid again.
    await deleteRecordsOfUsers(engine.database, [id]);
    return activateInvitedUser(engine, call, id, { extraWrites, isFindable: true, check });
  }
  const groups = invite.groups.filter((group) => state.get(group) !== undefined);
  const given = { email, name, role: invite.role, auto_groups: groups, is_service_user: false };
  const request: NewUserRequest = {
    id,
    email,
    name,
    role: invite.role,
    groups,
    body: given,
    options: { strict: false },
  };
  const derived = { status: 'active', invite: invite.id };
  // The inviter had the right to create the user. The person has no rights yet.
  await admitUser(engine, call, request, { extraWrites, isFindable: true, derived, check, isByServer: true });
}

/** Returns the invite of a token. Throws the same `NotFound` for malformed and for unknown tokens. */
async function findByToken(engine: Engine, token: string): Promise<FoundInvite> {
  requireLocalPasswords(engine);
  const hash = inviteHash(token);
  const found = hash === undefined ? undefined : await findInvite(engine.database, hash);
  if (found === undefined) throw unknown();
  return found;
}

async function requireInvite(engine: Engine, call: Call, id: string): Promise<Invite> {
  const found = (await listInvites(engine.database, call.account)).find((invite) => invite.id === id);
  if (found === undefined) throw missing(id);
  return found;
}

/**
 * Throws `NotAllowed` unless the caller may grant what an invite grants: the caller gets a token that anyone may
 * accept.
 */
async function requireRightsOfInvite(engine: Engine, call: Call, { role, groups }: Invite): Promise<void> {
  const state = await engine.snapshots.atLeast(call.account, call.revision);
  const right = rightBeyondActor(state, call.actor, { role, auto_groups: groups });
  if (right === undefined) return;
  throw new NotAllowed(`the invite grants ${right}, which you do not have, so you may not renew it; ask an owner`);
}

/** Throws `Conflict` unless passwords of this server are enabled: invites are accepted with such a password. */
export function requireLocalPasswords({ registry }: Engine): void {
  const { embeddedIdp, localAuthDisabled } = registry.installation;
  const why = embeddedIdp ? 'passwords are switched off' : 'its identity provider is switched off';
  if (!embeddedIdp || localAuthDisabled)
    throw new Conflict(
      'precondition',
      `this server does not allow signing in with a password: ${why}; use your identity provider`,
    );
}

/** Returns the expiry of an invite that is made or renewed now, in ISO 8601. */
function endOf(seconds: number, now: string): string {
  return new Date(Date.parse(now) + seconds * 1000).toISOString();
}

/**
 * Sends the mail before anything is written. Without a mail server, returns a notice with the link to deliver instead.
 */
async function sendInviteMail(
  { planEnvironment }: Pick<Engine, 'planEnvironment'>,
  people: LocalSignIn,
  call: Call,
  { email: to, name, expiresAt, token }: Pick<NewInvite, 'email' | 'name' | 'expiresAt'> & { readonly token: string },
): Promise<Pick<InviteResult<unknown>, 'notice'>> {
  const link = inviteLink(people.publicUrl(), token, inviteProof(planEnvironment.mailSigner, token));
  if (people.mailer === undefined)
    return {
      notice: `no mail was sent because no mail server is configured; give the user the link ${inviteLink(people.publicUrl(), '<invite_token>')}, and the account ${call.account} to sign in to if other accounts also use their address`,
    };
  await people.mailer.send(
    inviteMail({ to, name, invitedBy: call.actor.name, account: call.account, link, expiresAt }),
  );
  return {};
}

function event(what: 'create' | 'regenerate' | 'delete', id: string, email: string): AuditEvent {
  return { code: `user.invite.link.${what}`, target: id, meta: { email } };
}

function show(
  { id, email, name, role, groups, createdAt, expiresAt }: Omit<Invite, 'user' | 'createdBy'>,
  now: string,
) {
  return {
    ...{ id, email, name, role, auto_groups: groups, expires_at: expiresAt.toISOString() },
    ...{ created_at: createdAt.toISOString(), expired: expiresAt.toISOString() <= now },
  };
}

function alreadyInvitedError(email: string): Conflict {
  return new Conflict('taken', `an invite for ${email} already exists; regenerate or delete that one`);
}

function missing(id: string): NotFound {
  return new NotFound(`invite ${id} not found`);
}

function unknown(): NotFound {
  return new NotFound('invite not found: it was accepted or withdrawn, or the link is incomplete');
}

function invalid(path: string, code: ProblemCode, message: string): InvalidInput {
  return new InvalidInput(message, { problems: [{ code, path, message }] });
}
