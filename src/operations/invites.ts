import { optional, password, time } from '../model/operation/fields.ts';
import { defineOperation } from '../model/operation/operation.ts';
import { boolean, integer, list, object, refs, string } from '../model/schema/field.ts';

const path = '/api/users/invites';

const fields = {
  id: string({ doc: 'The id of the invite.' }),
  email: string({ doc: 'E-mail address of the invited person.' }),
  name: string({ doc: 'Display name of the user.' }),
  role: string({ doc: 'Role of the user.' }),
  auto_groups: refs('Group', { doc: 'Groups that peers join when the user enrols them.' }),
  expires_at: time({ doc: 'When it ends.' }),
  created_at: time({ doc: 'When it was made.' }),
  expired: boolean({ doc: 'Whether it has expired.' }),
};

const expiresIn = integer({
  doc: 'Seconds until it expires; default 72 hours.',
  minimum: 3600,
  maximum: 31_536_000,
  default: 259_200,
});

/** Body of a request for an invite. The rules for users check the rest. */
export const inviteRequest = {
  email: string({ doc: 'E-mail address to invite.', minLength: 1 }),
  name: string({ doc: 'Display name of the user.', minLength: 1 }),
  role: string({ doc: 'Role of the user: any except `owner`.' }),
  auto_groups: fields.auto_groups,
  expires_in: expiresIn,
};

/** Body of a request that accepts an invite. */
export const inviteAcceptance = {
  password: password({ doc: 'Your new password.' }),
  proof: optional(
    string({ doc: 'Text after the `#` in the link from the e-mail; it proves that the address is yours.' }),
  ),
};

const example = {
  ...{ id: 'ch8i4ug6lnn4g9hqv7i0', email: 'guest@example.com', name: 'Guest', role: 'user', auto_groups: [] },
  ...{ expires_at: '2026-01-05T03:04:05.000Z', created_at: '2026-01-02T03:04:05.000Z', expired: false },
};
const exampleToken = 'nbi_apTmlmUXHSC4PKmHwtIZNaGr8eqcVI2gMURp';

const inviteId = string({ doc: 'The id of the invite.' });
const token = string({ doc: 'The token of the invite.' });

const open = { open: 'requires the token of an invite in its path' };

/** Invites: created by callers who may create users, accepted by the holder of the token. */
export const invites = {
  list: defineOperation({
    id: 'listInvites',
    method: 'GET',
    path,
    access: { module: 'users', operation: 'read' },
    summary: 'List the invites',
    doc: 'Their tokens are not shown again.',
    answer: list(object(fields, { doc: 'An invite, without its token.', schema: 'Invite' }), { doc: '' }),
    noStore: true,
    errors: ['precondition'],
    example: { answer: [example] },
  }),
  create: defineOperation({
    id: 'createInvite',
    method: 'POST',
    path,
    access: { module: 'users', operation: 'create' },
    summary: 'Invite a person',
    doc: 'The user is created when the invite is accepted. With a mail server, the link is sent by e-mail; without one, the caller must deliver it, and `Heddle-Notice` says so.',
    body: inviteRequest,
    answer: object(
      { ...fields, invite_token: string({ doc: 'Its token, shown only once.' }) },
      { doc: 'A new invite.', schema: 'CreatedInvite' },
    ),
    shownOnce: 'invite_token',
    headers: ['Heddle-Notice'],
    errors: ['conflict', 'precondition'],
    example: {
      body: { email: example.email, name: example.name, role: 'user', auto_groups: [], expires_in: 86_400 },
      answer: { ...example, invite_token: exampleToken },
    },
  }),
  delete: defineOperation({
    id: 'deleteInvite',
    method: 'DELETE',
    path: `${path}/{inviteId}`,
    access: { module: 'users', operation: 'delete' },
    summary: 'Withdraw an invite',
    params: { inviteId },
    errors: ['precondition'],
    example: {},
  }),
  regenerate: defineOperation({
    id: 'regenerateInvite',
    method: 'POST',
    path: `${path}/{inviteId}/regenerate`,
    access: { module: 'users', operation: 'update' },
    summary: 'Give an invite a new token',
    doc: 'The old token stops working.',
    params: { inviteId },
    body: { expires_in: expiresIn },
    optionalBody: true,
    answer: object(
      {
        invite_token: string({ doc: 'The token, shown only once.' }),
        invite_expires_at: time({ doc: 'When it ends.' }),
      },
      { doc: 'The new token of an invite.', schema: 'RegeneratedInvite' },
    ),
    shownOnce: 'invite_token',
    headers: ['Heddle-Notice'],
    errors: ['precondition'],
    example: {
      body: { expires_in: 86_400 },
      answer: { invite_token: exampleToken, invite_expires_at: example.expires_at },
    },
  }),
  read: defineOperation({
    id: 'readInvite',
    method: 'GET',
    path: `${path}/{token}`,
    access: open,
    tag: 'users',
    summary: 'Read an invite by its token',
    params: { token },
    answer: object(
      {
        email: string({ doc: 'E-mail address of the invited person.' }),
        name: string({ doc: 'Their name.' }),
        expires_at: time({ doc: 'When it ends.' }),
        valid: boolean({ doc: 'Whether it can be accepted.' }),
        invited_by: string({ doc: 'Who invites.' }),
      },
      { doc: 'Part of an invite that the holder of its token may read.', schema: 'PublicInvite' },
    ),
    noStore: true,
    errors: ['precondition'],
    example: {
      answer: {
        ...{ email: example.email, name: example.name, expires_at: example.expires_at },
        ...{ valid: true, invited_by: 'Ana Lima' },
      },
    },
  }),
  accept: defineOperation({
    id: 'acceptInvite',
    method: 'POST',
    path: `${path}/{token}/accept`,
    access: open,
    tag: 'users',
    summary: 'Accept an invite',
    doc: 'Works once. From then on you sign in with the address and this password.',
    params: { token },
    body: inviteAcceptance,
    answer: object({ success: boolean({ doc: 'True.' }) }, { doc: 'The user was created.', schema: 'AcceptedInvite' }),
    noStore: true,
    errors: ['conflict', 'precondition'],
    example: { body: { password: 'correct horse' }, answer: { success: true } },
  }),
};
