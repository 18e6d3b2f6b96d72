import { optional, time } from '../model/operation/fields.ts';
import { defineOperation } from '../model/operation/operation.ts';
import { boolean, integer, list, maxLengths, object, string } from '../model/schema/field.ts';

const path = '/api/users/{userId}/tokens';

const token = object(
  {
    id: string({ doc: 'The id of the token.' }),
    name: string({ doc: 'Name of the token.' }),
    expiration_date: time({ doc: 'When it ends.' }),
    created_by: string({ doc: 'The id of the user who made it.' }),
    created_at: time({ doc: 'When it was made.' }),
    last_used: optional(time({ doc: 'When it was used last, to the minute; absent when never.' })),
    plan_only: optional(boolean({ doc: 'Present and true when it may only read and plan.' })),
  },
  { doc: 'A personal access token, without its value.', schema: 'PersonalAccessToken' },
);

const example = {
  id: 'ch8i4ug6lnn4g9hqv7m0',
  name: 'CI',
  expiration_date: '2027-01-01T00:00:00.000Z',
  created_by: 'ch8i4ug6lnn4g9hqv7p0',
  created_at: '2026-12-02T00:00:00.000Z',
};

const userId = string({ doc: 'The id of the user.' });
const tokenId = string({ doc: 'The id of the token.' });

/** Body of a request for a new token. */
export const tokenRequest = {
  name: string({ doc: 'Name of the token.', minLength: 1, maxLength: maxLengths.name }),
  expires_in: integer({ doc: 'Lifetime in days.', minimum: 1, maximum: 365 }),
  plan_only: boolean({
    doc: 'Whether it may only read and plan. Other servers do not have this field.',
    default: false,
  }),
};

// Every user manages their own tokens; the feature checks whose token it is.
const commonDeclaration = { access: 'anyone', tag: 'users' } as const;

/** Operations on personal access tokens: the caller's own tokens, and tokens of service users. */
export const tokens = {
  list: defineOperation({
    ...{ id: 'listTokens', method: 'GET', path, ...commonDeclaration },
    summary: 'List the tokens of a user',
    doc: 'Your own, or those of a service user.',
    params: { userId },
    answer: list(token, { doc: '' }),
    example: { answer: [example] },
  }),
  create: defineOperation({
    ...{ id: 'createToken', method: 'POST', path, ...commonDeclaration },
    summary: 'Make a token',
    doc: 'For yourself, or for a service user. The value is shown only once. If you signed in at this server more than 15 minutes ago, you must sign in again; this does not apply to personal access tokens.',
    params: { userId },
    body: tokenRequest,
    answer: object(
      { plain_token: string({ doc: 'The value.' }), personal_access_token: token },
      { doc: 'A new personal access token, with its value.', schema: 'CreatedPersonalAccessToken' },
    ),
    shownOnce: 'plain_token',
    example: {
      body: { name: 'CI', expires_in: 30 },
      answer: { plain_token: 'nbp_…', personal_access_token: example },
    },
  }),
  read: defineOperation({
    ...{ id: 'readToken', method: 'GET', path: `${path}/{tokenId}`, ...commonDeclaration },
    summary: 'Read a token',
    params: { userId, tokenId },
    answer: token,
    example: { answer: example },
  }),
  delete: defineOperation({
    ...{ id: 'deleteToken', method: 'DELETE', path: `${path}/{tokenId}`, ...commonDeclaration },
    summary: 'Delete a token',
    doc: 'It stops working at once. As for making a token, a sign-in at this server must not be older than 15 minutes.',
    params: { userId, tokenId },
    example: {},
  }),
};
