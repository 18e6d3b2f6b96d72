import type { JsonObject } from '../../lib/json.ts';
import { defineKind } from '../../model/declare/kind.ts';
import { type Provided, providedIndex, providedValues, removedEntry } from '../../model/declare/provided.ts';
import { boolean, type Fields, maxLengths, oneOf, optionalString, refs, string } from '../../model/schema/field.ts';
import type { Format } from '../../model/schema/format.ts';
import type { Stored } from '../../model/state/stored.ts';
import { checkAutoGroups } from '../shared/auto-groups.ts';
import { neverTimestamp } from '../shared/times.ts';
import { deriveUserChanges, warnOfDeletion } from './derived-changes.ts';
import { createdEvents, deletedEvents, updatedEvents } from './events.ts';
import { checkMutation, isMachineOwner } from './rules.ts';

/** E-mail address as it was written, without surrounding space. */
const email: Format = {
  name: 'email',
  pattern: '[^@<>]+@[^@<>]+',
  canonical(text) {
    const value = text.trim();
    if (/^[^\s@<>]{1,64}@[^\s@<>]+\.[^\s@<>.]+$/.test(value) && value.length <= 254) return { value };
    return { fault: `\`${text}\` is not an e-mail address; write one such as ana@example.com` };
  },
  // The surrounding space is dropped.
  keepsSpelling: () => false,
};

const flagWords: Readonly<Record<string, boolean>> = Object.fromEntries([
  ...['1', 't', 'T', 'true', 'TRUE', 'True'].map((word) => [word, true] as const),
  ...['0', 'f', 'F', 'false', 'FALSE', 'False'].map((word) => [word, false] as const),
]);

/** Parses a boolean query parameter, in the spellings that clients use. */
function parseFlag(text: string): boolean | undefined {
  return Object.hasOwn(flagWords, text) ? flagWords[text] : undefined;
}

const flagsSchema = { type: 'object', additionalProperties: { type: 'boolean' } };

const permissionsSchema: JsonObject = {
  type: 'object',
  required: ['is_restricted', 'modules'],
  properties: {
    is_restricted: { type: 'boolean', description: 'Whether the user sees only their own objects.' },
    modules: { type: 'object', description: 'Permissions of the user, by module.', additionalProperties: flagsSchema },
  },
};

const spec = {
  email: optionalString({
    doc: 'The e-mail address of a person; service users have none. Unique among users.',
    default: '',
    format: email,
    access: 'createOnly',
  }),
  name: string({ doc: 'The name people see.', maxLength: maxLengths.name, default: '', access: 'createOnly' }),
  role: oneOf(['owner', 'admin', 'user', 'network_admin', 'auditor', 'billing_admin'], {
    doc: 'Role of the user in the account.',
    required: true,
    ignoreCase: true,
  }),
  auto_groups: refs('Group', {
    doc: 'Groups that every peer enrolled by the user joins.',
    required: true,
    documentDefault: [],
  }),
  is_service_user: boolean({
    doc: 'Whether this is the identity of a program instead of a person.',
    access: 'createOnly',
    required: true,
    documentDefault: false,
  }),
  is_blocked: boolean({
    doc: 'Whether the user is blocked.',
    access: 'updateOnly',
    required: true,
    documentDefault: false,
    failsafe: true,
  }),
} satisfies Fields;

declare module '../../model/state/stored.ts' {
  interface KindTypes {
    User: { fields: typeof spec; derived: UserDerived };
  }
}

/** Data that the server keeps about a user in addition to the declared fields. */
interface UserDerived {
  /** `invited`, or `active` after the first sign-in. */
  readonly status: string;
  /** Id of the identity provider with which the person signs in. */
  readonly idp_id: string;
  /** `api`, or `integration` for people from an identity provider. */
  readonly issued: string;
  readonly pending_approval: boolean;
  /** Id of the invite that the person accepted. */
  readonly invite: string;
  /** Whether the caller who created the user, and so knows their one-time password, acted as an owner. */
  readonly created_by_owner: boolean;
  /** Data of the identity provider about the person. Absent for other users. */
  readonly provided: Provided;
}

export const user = defineKind({
  name: 'User',
  doc: 'A person, identified by an e-mail address, or a program (a service user) that uses the account.',
  path: '/api/users',
  idParameter: 'userId',
  verbs: ['list', 'create', 'replace', 'delete'],
  module: 'users',
  observed: 'people',
  document: { allowed: true, shortName: 'huser' },
  dependsOnView: true,
  spec,
  computed: {
    status: {
      doc: '`active`, `invited` until the user accepts the invitation, or `blocked`.',
      schema: { type: 'string', enum: ['active', 'invited', 'blocked'] },
      value: statusOf,
    },
    last_login: {
      doc: 'When the user last signed in; `0001-01-01T00:00:00Z` if never.',
      schema: { type: 'string', format: 'date-time' },
      value: ({ id }, { observed }) => observed?.(id)?.['last_login'] ?? neverTimestamp,
    },
    is_current: {
      doc: 'Whether this is the user who sends the request.',
      schema: { type: 'boolean' },
      value: (object, state) => object.id === state.viewer,
    },
    pending_approval: {
      doc: 'Whether the user joined through an e-mail domain and waits for the approval of an administrator.',
      schema: { type: 'boolean' },
      value: (object) => object.derived.pending_approval === true,
    },
    issued: {
      doc: 'Origin of the user: `api`, or `integration` for users from an identity provider.',
      schema: { type: 'string', enum: ['api', 'integration'] },
      value: (object) => object.derived.issued ?? 'api',
    },
    idp_id: {
      doc: 'The identity provider with which the user signs in. Absent when unknown.',
      schema: { type: 'string' },
      optional: true,
      value: (object) => object.derived.idp_id,
    },
    password: {
      doc: 'Password for the first sign-in. Only in the response to a creation for which the server generated one.',
      schema: { type: 'string' },
      optional: true,
      value: () => undefined,
    },
    permissions: {
      doc: 'Permissions of the user. Shown only to the users themselves.',
      schema: permissionsSchema,
      optional: true,
      value: () => undefined,
    },
  },
  filters: {
    service_user: {
      doc: 'Only service users (`true`) or only people (`false`).',
      schema: { type: 'boolean' },
      fault: (value) =>
        parseFlag(value) === undefined ? `\`service_user\` must be true or false, not \`${value}\`` : undefined,
      matches: (object, value) => object.spec.is_service_user === parseFlag(value),
    },
  },
  uniques: {
    email: {
      path: '/email',
      value: (object) => object.spec.email?.toLowerCase() || undefined,
      message: (value) => `a user with the e-mail address ${value} already exists; choose another one`,
    },
  },
  indexes: { [providedIndex]: ({ derived }) => providedValues(derived.provided) },
  entries: { [removedEntry]: ({ id, derived }) => (derived.provided?.removed_since === undefined ? undefined : id) },
  checkState: checkAutoGroups,
  checkMutation,
  derivedChanges: deriveUserChanges,
  warnings: warnOfDeletion,
  createEvents: createdEvents,
  updateEvents: updatedEvents,
  deleteEvents: deletedEvents,
  credential: 'beside',
  credentialFacts: ['status', 'invite', 'created_by_owner'],
  isSystem: isMachineOwner,
  isOwn: (object, viewer) => object.id === viewer,
  example: {
    name: 'Ana Lima',
    email: 'ana@example.com',
    role: 'admin',
    auto_groups: ['developers'],
    is_service_user: false,
  },
});

function statusOf(user: Stored<'User'>): string {
  if (user.spec.is_blocked === true) return 'blocked';
  if (user.spec.is_service_user === true) return 'active';
  return user.derived.status ?? 'invited';
}
