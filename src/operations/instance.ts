import { label, optional, password } from '../model/operation/fields.ts';
import { defineOperation } from '../model/operation/operation.ts';
import { boolean, integer, object, string } from '../model/schema/field.ts';

/** Operations that create the first person of an installation. */
export const instance = {
  read: defineOperation({
    id: 'readInstance',
    method: 'GET',
    path: '/api/instance',
    access: { open: 'shows only whether the first person is still to come' },
    tag: 'instance',
    summary: 'Ask whether the first person is still to come',
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
      open: "works until the first person has come; where people were before it wants the operator's token",
    },
    tag: 'instance',
    summary: 'Make the first person',
    doc: "An owner, who signs in with the address and the password from then on. Of all who try at once one comes through; afterwards it is refused with 412. A server whose people are all gone wants the operator's token, or that of the machine owner.",
    body: {
      email: label({ doc: 'The address by which the person signs in.' }),
      name: label({ doc: 'The name people see.' }),
      password: password({ doc: 'The password.' }),
      create_pat: boolean({ doc: 'Whether to make a personal access token too.', default: false }),
      pat_expire_in: integer({ doc: 'Its days.', minimum: 1, maximum: 365, default: 1 }),
    },
    answer: object(
      {
        user_id: string({ doc: 'The id of the person.' }),
        email: string({ doc: 'The address.' }),
        personal_access_token: optional(string({ doc: 'The token that was asked for, shown this once.' })),
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
