import type { Call, Engine } from '../../commit/engine.ts';
import { storeOnce } from '../../commit/in-doubt.ts';
import { hasLeftover, keepCredentials, putCredentials } from '../../db/accounts/credentials.ts';
import { findInvite, putInvite } from '../../db/accounts/invites.ts';
import { putValues } from '../../db/commit/kept-values.ts';
import type { JsonObject } from '../../lib/json.ts';
import { createObject, type WriteOptions, type Written } from '../../objects/objects.ts';
import {
  type Admission,
  admit,
  auditEntry,
  type NewUserRequest,
  readNewUser,
  userKind,
} from '../accounts/admission.ts';
import { requireInvited } from '../accounts/users.ts';
import { inviteLink, inviteMail } from './invite-mail.ts';
import { inviteProof } from './invite-proof.ts';
import { newInviteToken } from './invite-tokens.ts';
import { requireProvider } from './invites.ts';
import type { LocalPeople } from './local-people.ts';
import { hashPassword } from './passwords.ts';

/** A user that was created, and what its creator should know. */
export interface MadeUser extends Written {
  readonly notice?: string;
}

const day = 24 * 60 * 60 * 1000;

/** How long an invitation that goes with a new user is good. */
const invitationMs = 3 * day;

/**
 * Makes a user. A program needs nothing more; a person is invited by mail, or gets a password for the first sign-in that
 * is shown this once, or signs in where another identity provider knows them.
 */
export async function createUser(
  engine: Engine,
  people: LocalPeople,
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
    return { ...made, notice: `no mail was sent; tell them to sign in with their identity provider` };
  }
  // Faults are reported before anything is hashed or sent.
  const request = await readNewUser(engine, call, body, options);
  if (await hasLeftover(engine.database, call.account, request.email)) {
    const extraWrites = [keepCredentials(call.account, request.email, request.id)];
    const made = await admit(engine, call, request, { extraWrites, isFound: true });
    return { ...made, notice: 'no mail was sent; they are known here and sign in with the password they have' };
  }
  if (people.mailer === undefined) return await withPassword(engine, people, call, request);
  const { extraWrites } = await inviteByMail(engine, people, call, request);
  return await admit(engine, call, request, { extraWrites: [extraWrites], isFound: false });
}

async function withPassword(
  engine: Engine,
  people: LocalPeople,
  call: Call,
  request: NewUserRequest,
): Promise<MadeUser> {
  const { id: user, email } = request;
  const password = makePassword((bytes) => engine.planEnvironment.random(bytes));
  const hash = await hashPassword(engine, password);
  const credentials = { account: call.account, email, user, hash, oneTime: true, at: engine.now() };
  const notice = `no mail was sent, since there is no mail server; tell them the password and to sign in at ${people.publicUrl()}/signin/account, to the account ${call.account} if others claim their address`;
  const output = { id: user, kind: userKind, key: email, field: 'password', value: password };
  const kept = call.sealOnce?.({ outputs: [output], notice });
  const extraWrites = [putCredentials(credentials), ...(kept === undefined ? [] : [putValues(call.account, kept)])];
  const made = await admit(engine, call, request, { extraWrites, isFound: true });
  return { ...made, outputs: { password }, notice };
}

/** An invitation of a user, which is to be written. */
interface Invitation {
  readonly extraWrites: Admission['extraWrites'][number];
  readonly link: string;
  /** Of its token. */
  readonly hash: string;
}

/** Invites a user. The mail goes first: a mail server that is away leaves nothing half made. */
async function inviteByMail(
  engine: Engine,
  people: LocalPeople,
  call: Call,
  { id: user, email, name }: Pick<NewUserRequest, 'id' | 'email' | 'name'>,
): Promise<Invitation> {
  const { token, hash } = newInviteToken(engine);
  const at = engine.now();
  const expiresAt = new Date(Date.parse(at) + invitationMs).toISOString();
  const link = inviteLink(people.publicUrl(), token);
  const mailed = inviteLink(people.publicUrl(), token, inviteProof(engine.planEnvironment.mailSigner, token));
  await people.mailer?.send(
    inviteMail({ to: email, name, invitedBy: call.actor.name, account: call.account, link: mailed, expiresAt }),
  );
  const invite = {
    ...{ account: call.account, id: engine.newId(), hash, user, email, name, role: '', groups: [] },
    ...{ createdBy: call.actor.id, createdAt: at, expiresAt },
  };
  const entry = auditEntry(call, at, { code: 'user.invite', target: user, meta: { name, email } });
  return { extraWrites: putInvite(invite, entry), link, hash };
}

/** Invites a user again who has not signed in yet. Without a mail server the caller delivers the link. */
export async function inviteAgain(
  engine: Engine,
  people: LocalPeople,
  call: Call,
  id: string,
): Promise<{ readonly link?: string }> {
  const user = await requireInvited(engine, call, id);
  requireProvider(engine);
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

// Without characters that look alike: people read it out.
const letters = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789';
const passwordCharacters = 16;

/** A password that the server makes up: each letter as likely as any other. */
function makePassword(random: (bytes: number) => Uint8Array): string {
  const limit = 256 - (256 % letters.length);
  let text = '';
  while (text.length < passwordCharacters)
    for (const byte of random(passwordCharacters))
      if (byte < limit && text.length < passwordCharacters) text += letters[byte % letters.length];
  return text;
}
