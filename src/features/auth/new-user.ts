import type { Call, Engine } from '../../commit/engine.ts';
import { storeOnce } from '../../commit/in-doubt.ts';
import { hasProvedCredentials, putCredentials, reassignCredentials } from '../../db/accounts/credentials.ts';
import { findInvite, putInvite } from '../../db/accounts/invites.ts';
import { putKeptValues } from '../../db/commit/kept-values.ts';
import type { JsonObject } from '../../lib/json.ts';
import { actsAsOwner } from '../../model/declare/owner-groups.ts';
import { createObject, type WriteOptions, type WriteResult } from '../../objects/objects.ts';
import {
  admitUser,
  auditEntry,
  type NewUserRequest,
  readNewUser,
  type UserAdmission,
  userKind,
} from '../accounts/admission.ts';
import { requireInvitable } from '../accounts/users.ts';
import { inviteLink, inviteMail } from './invite-mail.ts';
import { inviteProof } from './invite-proof.ts';
import { newInviteToken } from './invite-tokens.ts';
import { requireLocalPasswords } from './invites.ts';
import type { LocalSignIn } from './local-people.ts';
import { hashPassword } from './passwords.ts';

/** A user that was created, with a notice for the caller who created it. */
export interface MadeUser extends WriteResult {
  readonly notice?: string;
}

const dayMs = 24 * 60 * 60 * 1000;

/** Lifetime of the invitation that is sent for a new user, in milliseconds. */
const invitationMs = 3 * dayMs;

/**
 * Creates a user. A service user needs nothing more. A person is invited by mail, or gets a password for the first
 * sign-in that is shown only once, or signs in through another identity provider that knows them.
 */
export async function createUser(
  engine: Engine,
  people: LocalSignIn,
  call: Call,
  body: JsonObject,
  options: WriteOptions,
): Promise<MadeUser> {
  const kind = engine.registry.get(userKind);
  const { embeddedIdp, localAuthDisabled } = engine.registry.installation;
  const isPerson = body['is_service_user'] === false;
  if (!isPerson) return createObject(engine, call, kind, body, options);
  if (!embeddedIdp || localAuthDisabled) {
    const made = await createObject(engine, call, kind, body, options);
    const first = `on a server with several accounts, the first request names this one: \`?account=${call.account}\``;
    return { ...made, notice: `no mail was sent; ask the user to sign in with their identity provider; ${first}` };
  }
  // Errors are reported before a password is hashed or a mail is sent.
  const request = await readNewUser(engine, call, body, options);
  if (await hasProvedCredentials(engine.database, call.account, request.email))
    return await createWithKeptPassword(engine, call, request);
  if (people.mailer === undefined) return await createWithPassword(engine, people, call, request);
  const { extraWrites } = await inviteByMail(engine, people, call, request);
  return await admitUser(engine, call, request, { extraWrites: [extraWrites], isFindable: false });
}

async function createWithKeptPassword(engine: Engine, call: Call, request: NewUserRequest): Promise<MadeUser> {
  const extraWrites = [reassignCredentials(call.account, request.email, request.id)];
  const made = await admitUser(engine, call, request, { extraWrites, isFindable: true });
  const notice = 'no mail was sent; the user is already known on this server and signs in with their existing password';
  return { ...made, notice };
}

async function createWithPassword(
  engine: Engine,
  people: LocalSignIn,
  call: Call,
  request: NewUserRequest,
): Promise<MadeUser> {
  const { id: user, email } = request;
  const password = makePassword((bytes) => engine.planEnvironment.random(bytes));
  const hash = await hashPassword(engine, password);
  const credentials = { account: call.account, email, user, hash, oneTime: true, at: engine.now() };
  const notice = `no mail was sent because no mail server is configured; give the user the password and the address ${people.publicUrl()}/signin/account, and the account ${call.account} to sign in to if other accounts also use their address`;
  const output = { id: user, kind: userKind, key: email, field: 'password', value: password };
  const kept = call.sealOnce?.({ outputs: [output], notice });
  const extraWrites = [putCredentials(credentials), ...(kept === undefined ? [] : [putKeptValues(call.account, kept)])];
  const state = await engine.snapshots.atLeast(call.account, call.revision);
  const derived = actsAsOwner(state, call.actor) ? { created_by_owner: true } : {};
  const made = await admitUser(engine, call, request, { extraWrites, isFindable: true, derived });
  return { ...made, outputs: { password }, notice };
}

/** An invitation of a user that is not written yet. */
interface PreparedInvitation {
  readonly extraWrites: UserAdmission['extraWrites'][number];
  readonly link: string;
  /** Hash of the invite token. */
  readonly hash: string;
}

/**
 * Sends the invitation of a user by mail, and returns the invitation to write. The mail is sent first, so that an
 * unavailable mail server leaves nothing half done.
 */
async function inviteByMail(
  engine: Engine,
  people: LocalSignIn,
  call: Call,
  { id: user, email, name }: Pick<NewUserRequest, 'id' | 'email' | 'name'>,
): Promise<PreparedInvitation> {
  const { token, hash } = newInviteToken(engine);
  const at = engine.now();
  const expiresAt = new Date(Date.parse(at) + invitationMs).toISOString();
  const link = inviteLink(people.publicUrl(), token);
  const mailed = inviteLink(people.publicUrl(), token, inviteProof(engine.planEnvironment.mailSigner, token));
  await people.mailer?.send(
    inviteMail({ to: email, name, invitedBy: call.actor.name, account: call.account, link: mailed, expiresAt }),
  );
  const invite = {
    ...{ account: call.account, id: engine.newId(), hash, user, email, name, groups: [] },
    role: (await isInviteByOwner(engine, people, call)) ? 'owner' : '',
    ...{ createdBy: call.actor.id, createdAt: at, expiresAt },
  };
  const entry = auditEntry(call, at, { code: 'user.invite', target: user, meta: { name, email } });
  return { extraWrites: putInvite(invite, entry, { isMailed: people.mailer !== undefined }), link, hash };
}

/**
 * Whether the invite stays valid for an owner when its sender no longer is one. An owner may hand over the account to the
 * invited user, and nobody else could invite that user again. A sender who sees the link must still be an owner when it
 * is used, except for senders from the managing account, whose rights cannot be looked up then.
 */
async function isInviteByOwner(engine: Engine, people: LocalSignIn, { account, revision, actor }: Call) {
  if (actor.granted !== undefined || people.mailer === undefined) return actor.granted === 'owner';
  return actsAsOwner(await engine.snapshots.atLeast(account, revision), actor);
}

/**
 * Invites a user again who has not signed in yet. Without a mail server, returns the link, which the caller must
 * deliver.
 */
export async function resendInvitation(
  engine: Engine,
  people: LocalSignIn,
  call: Call,
  id: string,
): Promise<{ readonly link?: string }> {
  const user = await requireInvitable(engine, call, id);
  requireLocalPasswords(engine);
  const { email } = user.spec;
  const { extraWrites, link, hash } = await inviteByMail(engine, people, call, {
    id,
    email: String(email),
    name: user.name,
  });
  await storeOnce<unknown>(
    { requestId: id },
    () => findInvite(engine.database, hash),
    () => engine.database.inAccount(call.account, [extraWrites.statement], { write: true }),
  );
  return people.mailer === undefined ? { link } : {};
}

// Without characters that look alike, because people read the password aloud.
const passwordAlphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789';
const passwordLength = 16;

/** Returns a generated password, in which every character is equally likely. */
function makePassword(random: (bytes: number) => Uint8Array): string {
  const limit = 256 - (256 % passwordAlphabet.length);
  let text = '';
  while (text.length < passwordLength)
    for (const byte of random(passwordLength))
      if (byte < limit && text.length < passwordLength) text += passwordAlphabet[byte % passwordAlphabet.length];
  return text;
}
