import { label, optional, password } from '../model/operation/fields.ts';
import { defineOperation } from '../model/operation/operation.ts';
import { boolean, integer, object, string } from '../model/schema/field.ts';

/** Operations that create the first person of an installation. */
export const instance = {
  read: defineOperation({
    id: 'readInstance',
    method: 'GET',
    path: '/api/instance',
    access: { open: 'shows only whether the first person must still be created' },
    tag: 'instance',
    summary: 'Check whether the first person must still be created',
    answer: object(
      { setup_required: boolean({ doc: 'Whether `POST /api/setup` makes an owner.' }) },
      { doc: 'Whether the server has people.', schema: 'Instance' },
    ),
    noStore: true,
    example: { answer: { setup_required: true } },
  }),
  setUp: defineOperation({
    id: 'setUp',
    method: 'POST',
    path: '/api/setup',
    access: {
      open: "works until the first person is created; after all people were deleted it requires the operator's token",
    },
    tag: 'instance',
    summary: 'Create the first person',
    doc: "Creates an owner, who signs in with the address and the password from then on. Of concurrent requests only one succeeds; later ones are refused with 412. When all people of the server were deleted, the request needs the operator's token or that of the machine owner.",
    body: {
      email: label({ doc: 'The address by which the person signs in.' }),
      name: label({ doc: 'Display name.' }),
      password: password({ doc: 'The password.' }),
      create_pat: boolean({ doc: 'Whether to make a personal access token too.', default: false }),
      pat_expire_in: integer({ doc: 'Its days.', minimum: 1, maximum: 365, default: 1 }),
    },
    answer: object(
      {
        user_id: string({ doc: 'The id of the person.' }),
        email: string({ doc: 'The address.' }),
        personal_access_token: optional(string({ doc: 'The requested token, shown only once.' })),
      },
      { doc: 'The first person.', schema: 'FirstPerson' },
    ),
    noStore: true,
    errors: ['unauthenticated', 'not_allowed', 'conflict', 'precondition'],
    example: {
      body: {
        ...{ email: 'first@example.com', name: 'Ana Lima', password: 'correct horse' },
        ...{ create_pat: true, pat_expire_in: 30 },
      },
      answer: { user_id: 'ch8i4ug6lnn4g9hqv7p0', email: 'first@example.com', personal_access_token: 'nbp_…' },
    },
  }),
};
