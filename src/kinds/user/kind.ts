import type { JsonObject } from '../../lib/json.ts';
import { defineKind } from '../../model/declare/kind.ts';
import { type Provided, providedIndex, providedValues, removedEntry } from '../../model/declare/provided.ts';
import {
  boolean,
  type Fields,
  type Format,
  longest,
  oneOf,
  optionalString,
  refs,
  string,
} from '../../model/schema/field.ts';
import type { Stored } from '../../model/state/stored.ts';
import { checkAutoGroups } from '../shared/auto-groups.ts';
import { never } from '../shared/times.ts';
import { followUser, warnOfLeaving } from './derived-changes.ts';
import { createdEvents, deletedEvents, updatedEvents } from './events.ts';
import { checkMutation, isFirstOwner } from './rules.ts';

/** E-mail address as it was written, without surrounding space. */
const email: Format = {
  name: 'email',
  pattern: '[^@<>]+@[^@<>]+',
  canonical(text) {
    const value = text.trim();
    if (/^[^\s@<>]{1,64}@[^\s@<>]+\.[^\s@<>.]+$/.test(value) && value.length <= 254) return { value };
    return { fault: `\`${text}\` is not an e-mail address; write one such as ana@example.com` };
  },
};

const words: Readonly<Record<string, boolean>> = Object.fromEntries([
  ...['1', 't', 'T', 'true', 'TRUE', 'True'].map((word) => [word, true] as const),
  ...['0', 'f', 'F', 'false', 'FALSE', 'False'].map((word) => [word, false] as const),
]);

/** Parses a boolean query parameter, in the spellings that clients use. */
function parseFlag(text: string): boolean | undefined {
  return Object.hasOwn(words, text) ? words[text] : undefined;
}

const flags = { type: 'object', additionalProperties: { type: 'boolean' } };

const permissions: JsonObject = {
  type: 'object',
  required: ['is_restricted', 'modules'],
  properties: {
    is_restricted: { type: 'boolean', description: 'Whether the user sees only what is theirs.' },
    modules: { type: 'object', description: 'What the user may do, by module.', additionalProperties: flags },
  },
};

const spec = {
  email: optionalString({
    doc: 'The e-mail address of a person; service users have none. No two users share one.',
    default: '',
    format: email,
    access: 'createOnly',
  }),
  name: string({ doc: 'The name people see.', maxLength: longest.name, default: '', access: 'createOnly' }),
  role: oneOf(['owner', 'admin', 'user', 'network_admin', 'auditor', 'billing_admin'], {
    doc: 'What the user may do in the account.',
    required: true,
    ignoreCase: true,
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
  is_blocked: boolean({
    doc: 'Whether the user is kept out.',
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
  /** Data of the identity provider about the person. Absent for other users. */
  readonly provided: Provided;
}

export const user = defineKind({
  name: 'User',
  doc: 'A person, known by an e-mail address, or a program (a service user) that uses the account.',
  path: '/api/users',
  idParameter: 'userId',
  verbs: ['list', 'create', 'replace', 'delete'],
  module: 'users',
  observed: 'people',
  document: { allowed: true, shortName: 'huser' },
  varies: true,
  spec,
  computed: {
    status: {
      doc: 'Whether the user is let in, still has to accept the invitation, or is kept out.',
      schema: { type: 'string', enum: ['active', 'invited', 'blocked'] },
      value: statusOf,
    },
    last_login: {
      doc: 'When the user last signed in; the year 1 when never.',
      schema: { type: 'string', format: 'date-time' },
      value: ({ id }, { observed }) => observed?.(id)?.['last_login'] ?? never,
    },
    is_current: {
      doc: 'Whether this is the user who asks.',
      schema: { type: 'boolean' },
      value: (object, state) => object.id === state.viewer,
    },
    pending_approval: {
      doc: 'Whether the user joined by an e-mail domain and waits for an administrator.',
      schema: { type: 'boolean' },
      value: (object) => object.derived.pending_approval === true,
    },
    issued: {
      doc: 'Where the user comes from: `api`, or `integration` for those whom an identity provider brought.',
      schema: { type: 'string', enum: ['api', 'integration'] },
      value: (object) => object.derived.issued ?? 'api',
    },
    idp_id: {
      doc: 'The identity provider by which the user signs in, when it is known.',
      schema: { type: 'string' },
      value: (object) => object.derived.idp_id,
    },
    password: {
      doc: 'A password for the first sign-in: only in the answer to a creation, when the server had to make one up.',
      schema: { type: 'string' },
      value: () => undefined,
    },
    permissions: { doc: 'Shown to the users themselves.', schema: permissions, value: () => undefined },
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
  derivedChanges: followUser,
  warnings: warnOfLeaving,
  createEvents: createdEvents,
  updateEvents: updatedEvents,
  deleteEvents: deletedEvents,
  credential: 'beside',
  isSystem: isFirstOwner,
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
