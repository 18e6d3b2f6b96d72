import { objectOfKind, password } from '../model/operation/fields.ts';
import { defineOperation } from '../model/operation/operation.ts';
import { string } from '../model/schema/field.ts';

const path = '/api/users/{userId}';
const params = { userId: string({ doc: 'The id of the user.' }) };

const exampleUser = {
  ...{ id: 'ch8i4ug6lnn4g9hqv7p0', email: 'ana@example.com', name: 'Ana Lima', role: 'owner', status: 'active' },
  ...{ last_login: '0001-01-01T00:00:00Z', auto_groups: [], is_current: true, is_service_user: false },
  ...{ is_blocked: false, pending_approval: false, issued: 'api' },
};

/** Body with which users change their own password. */
export const passwordChange = {
  old_password: string({ doc: 'Present password.', minLength: 1 }),
  new_password: password({ doc: 'New password.' }),
};

/**
 * Operations with which users read their own data and change their password, and with which new users are invited,
 * approved or rejected.
 */
export const users = {
  readCurrent: defineOperation({
    id: 'readCurrentUser',
    method: 'GET',
    path: '/api/users/current',
    access: 'anyone',
    tag: 'users',
    summary: 'Read the current user',
    doc: 'Also returns the permissions of the user.',
    answer: objectOfKind('User'),
    errors: ['not_found'],
    example: {
      answer: {
        ...exampleUser,
        permissions: {
          is_restricted: false,
          modules: { groups: { read: true, create: true, update: true, delete: true } },
        },
      },
    },
  }),
  inviteAgain: defineOperation({
    id: 'inviteUserAgain',
    method: 'POST',
    path: `${path}/invite`,
    access: { module: 'users', operation: 'create' },
    summary: 'Send the invitation of a person again',
    doc: 'For people who have not signed in yet. Without a mail server no mail is sent: `Heddle-Invite-Link` has the link to hand over, and `Heddle-Notice` says so. Earlier links stop working.',
    params,
    headers: ['Heddle-Notice', 'Heddle-Invite-Link'],
    errors: ['precondition', 'invalid'],
    example: {},
  }),
  approve: defineOperation({
    id: 'approveUser',
    method: 'POST',
    path: `${path}/approve`,
    access: { module: 'users', operation: 'update' },
    summary: 'Approve a user who waits for approval',
    params,
    answer: objectOfKind('User'),
    headers: ['ETag'],
    errors: ['conflict', 'invalid'],
    example: { answer: { ...exampleUser, role: 'user', is_current: false } },
  }),
  reject: defineOperation({
    id: 'rejectUser',
    method: 'DELETE',
    path: `${path}/reject`,
    access: { module: 'users', operation: 'delete' },
    summary: 'Reject a user who waits for approval',
    params,
    errors: ['conflict', 'invalid'],
    example: {},
  }),
  changePassword: defineOperation({
    id: 'changePassword',
    method: 'PUT',
    path: `${path}/password`,
    access: 'anyone',
    tag: 'users',
    summary: 'Change your own password',
    doc: 'Ends your sessions and their tokens; personal access tokens stay. Too many wrong old passwords are answered with 429 for a while.',
    params,
    body: passwordChange,
    noStore: true,
    errors: ['precondition'],
    example: { body: { old_password: 'correct horse', new_password: 'battery staple' } },
  }),
};
