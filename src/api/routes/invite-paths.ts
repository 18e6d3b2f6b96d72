import type { JsonObject } from '../../lib/json.ts';
import { header, json, type Operation, operation, pathParameters } from '../../model/lower/openapi/operation.ts';

const path = '/api/users/invites';

const example = {
  ...{ id: 'ch8i4ug6lnn4g9hqv7i0', email: 'guest@example.com', name: 'Guest', role: 'user', auto_groups: [] },
  ...{ expires_at: '2026-01-05T03:04:05.000Z', created_at: '2026-01-02T03:04:05.000Z', expired: false },
};
const token = 'nbi_apTmlmUXHSC4PKmHwtIZNaGr8eqcVI2gMURp';

const seconds = {
  type: 'integer',
  minimum: 3600,
  maximum: 31_536_000,
  default: 259_200,
  description: 'For how many seconds it is good; 72 hours unless said otherwise.',
};
const time = (description: string) => ({ type: 'string', format: 'date-time', description });
const text = (description: string) => ({ type: 'string', description });
const groups = {
  type: 'array',
  items: { type: 'string', 'x-ref': 'Group' },
  description: 'Groups that every peer joins which the user enrols.',
};

const properties: JsonObject = {
  id: text('The id of the invite.'),
  email: text('Whom it is for.'),
  name: text('The name people will see.'),
  role: text('What the user will be allowed to do.'),
  auto_groups: groups,
  expires_at: time('When it ends.'),
  created_at: time('When it was made.'),
  expired: { type: 'boolean', description: 'Whether it has ended.' },
  invite_token: text('Shown when it is made, this once.'),
};
const invite: JsonObject = {
  type: 'object',
  required: Object.keys(properties).filter((name) => name !== 'invite_token'),
  properties,
};

function objectOf(members: JsonObject, required = Object.keys(members)): JsonObject {
  return { type: 'object', required, properties: members };
}

const acceptance = objectOf(
  {
    password: { type: 'string', minLength: 8, maxLength: 1024, description: 'Your password from now on.' },
    proof: text('What stands behind `#` in the link that you got by mail: it proves that the address is yours.'),
  },
  ['password'],
);

/** The OpenAPI path items of invites. */
export function invitePaths(): JsonObject {
  const errors = [401, 403, 412, 429, 503];
  const withBody = [400, 401, 403, 409, 412, 413, 415, 422, 429, 503];
  const onOne = [401, 403, 404, 412, 429, 503];
  const request = objectOf(
    {
      email: { type: 'string', minLength: 1, description: 'Whom to invite.' },
      name: { type: 'string', minLength: 1, description: 'The name people will see.' },
      role: text('Any role but `owner`.'),
      auto_groups: groups,
      expires_in: seconds,
    },
    ['email', 'name', 'role', 'auto_groups'],
  );
  const body = { email: example.email, name: example.name, role: 'user', auto_groups: [], expires_in: 86_400 };
  return {
    ...item(path, {
      get: {
        ...{ id: 'listInvites', summary: 'List the invites', description: 'Their tokens are not shown again.' },
        ...{ answer: json({ type: 'array', items: invite }, [example]), errors },
        ...{ parameters: [header('IfNoneMatch')], headers: ['ETag'], unchanged: true },
      },
      post: {
        ...{ id: 'createInvite', summary: 'Invite a person', body: json(request, body), errors: withBody },
        description:
          'The user is made when the invite is accepted. With a mail server the link goes by mail; without one `Heddle-Notice` says so, and the caller who invites delivers it.',
        answer: json(invite, { ...example, invite_token: token }),
        headers: ['Heddle-Notice'],
      },
    }),
    ...item(`${path}/{inviteId}`, {
      delete: { id: 'deleteInvite', summary: 'Take an invite back', errors: onOne },
    }),
    ...item(`${path}/{inviteId}/regenerate`, {
      post: {
        ...{ id: 'regenerateInvite', summary: 'Give an invite a new token', optionalBody: true },
        description: 'The old token works no more.',
        body: json(objectOf({ expires_in: seconds }, []), { expires_in: 86_400 }),
        answer: json(objectOf({ invite_token: text('The token.'), invite_expires_at: time('When it ends.') }), {
          ...{ invite_token: token, invite_expires_at: example.expires_at },
        }),
        headers: ['Heddle-Notice'],
        errors: [400, ...onOne, 413, 415, 422].sort((a, b) => a - b),
      },
    }),
    ...item(`${path}/{token}`, {
      get: {
        ...{ id: 'readInvite', summary: 'Read the invite that you have the token of', open: true },
        ...{ parameters: [header('IfNoneMatch')], headers: ['ETag'], unchanged: true },
        answer: json(
          objectOf({
            ...{ email: text('Whom it is for.'), name: text('Their name.'), expires_at: time('When it ends.') },
            ...{ valid: { type: 'boolean', description: 'Whether it can be accepted.' } },
            ...{ invited_by: text('Who invites.') },
          }),
          {
            ...{ email: example.email, name: example.name, expires_at: example.expires_at },
            ...{ valid: true, invited_by: 'Ana Lima' },
          },
        ),
        errors: [404, 412, 429, 503],
      },
    }),
    ...item(`${path}/{token}/accept`, {
      post: {
        ...{ id: 'acceptInvite', summary: 'Accept an invite', open: true },
        description: 'Works once. From then on you sign in with the address and this password.',
        body: json(acceptance, { password: 'correct horse' }),
        answer: json(objectOf({ success: { type: 'boolean', description: 'True.' } }), { success: true }),
        errors: [400, 404, 409, 412, 413, 415, 422, 429, 503],
      },
    }),
  };
}

function item(full: string, operations: Readonly<Record<string, Omit<Operation, 'tag'>>>): JsonObject {
  const described = pathParameters(full, (name) => ({
    description: name === 'token' ? 'The token of the invite.' : 'The id of the invite.',
    schema: { type: 'string' },
  }));
  const entries = Object.entries(operations).map(([method, spec]) => [method, operation({ ...spec, tag: 'users' })]);
  return { [full]: { ...described, ...Object.fromEntries(entries) } };
}
