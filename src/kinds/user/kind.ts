import { boolean, oneOf, refs, string } from '../../model/field.ts';
import { defineKind } from '../../model/kind.ts';
import { textOf } from '../shared/stored.ts';

export const user = defineKind({
  name: 'User',
  doc: 'A person or a program that signs in to the account.',
  module: 'users',
  document: { allowed: false, why: 'users sign in or are invited; manage them through the API' },
  spec: {
    name: string({ doc: 'The name people see.', default: '' }),
    email: string({ doc: 'The e-mail address; empty for service users.', default: '' }),
    role: oneOf(['owner', 'admin', 'user', 'network_admin', 'auditor', 'billing_admin'], {
      doc: 'What the user may do in the account.',
      required: true,
    }),
    auto_groups: refs('Group', {
      doc: 'Groups that every peer joins which the user enrols.',
      required: true,
      documentDefault: [],
    }),
    is_service_user: boolean({
      doc: 'Whether this is the identity of a program and not of a person.',
      access: 'createOnly',
      required: true,
      documentDefault: false,
    }),
    is_blocked: boolean({ doc: 'Whether the user is kept out.', access: 'updateOnly', default: false, failsafe: true }),
  },
  uniques: {
    email: {
      path: '/email',
      value: (object) => textOf(object, 'email').toLowerCase() || undefined,
      message: (value) => `a user with the e-mail address ${value} already exists; choose another one`,
    },
  },
  activity: { create: 'user.create', delete: 'user.delete' },
  example: {
    name: 'Ana Lima',
    email: 'ana@example.com',
    role: 'admin',
    auto_groups: ['developers'],
    is_service_user: false,
  },
});
