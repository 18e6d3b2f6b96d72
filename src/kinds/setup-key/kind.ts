import { type AuditEvent, defineKind, type State } from '../../model/declare/kind.ts';
import { maxKeyLifetimeSeconds } from '../../model/declare/setup-key-words.ts';
import { boolean, integer, maxLengths, oneOf, refs, string } from '../../model/schema/field.ts';
import type { Stored } from '../../model/state/stored.ts';
import { autoGroupEvents, checkAutoGroups } from '../shared/auto-groups.ts';
import { eventsIf } from '../shared/events.ts';
import { neverTimestamp } from '../shared/times.ts';
import { checkLimit, limitOneOff, stateOf, usesOf } from './rules.ts';
import { expiryOf, hashesOf, makeKey, renewKey } from './value.ts';

const timestamp = { type: 'string', format: 'date-time' };

const spec = {
  name: string({
    doc: 'The name people see.',
    maxLength: maxLengths.name,
    required: true,
    minLength: 1,
    access: 'createOnly',
  }),
  type: oneOf(['one-off', 'reusable'], {
    doc: 'Whether the key enrols one peer (`one-off`) or several (`reusable`).',
    required: true,
    access: 'createOnly',
  }),
  expires_in: integer({
    doc: 'How long the key works after its creation. In a document, 0 means that it never expires.',
    required: true,
    minimum: 86400,
    maximum: 31536000,
    inDocuments: { minimum: 0, maximum: maxKeyLifetimeSeconds },
    unit: 'seconds',
    access: 'createOnly',
    hidden: true,
  }),
  auto_groups: refs('Group', {
    doc: 'Groups that every peer enrolled with the key joins.',
    required: true,
    documentDefault: [],
  }),
  usage_limit: integer({
    doc: 'Maximum number of peers that enrol with the key; 0 means any number. A one-off key has 1.',
    required: true,
    documentDefault: 0,
    minimum: 0,
    access: 'createOnly',
  }),
  ephemeral: boolean({
    doc: 'Whether peers that enrol with the key are deleted some time after they disconnect.',
    default: false,
    access: 'createOnly',
  }),
  allow_extra_dns_labels: boolean({
    doc: 'Whether peers that enrol with the key may request additional DNS labels.',
    default: false,
    access: 'createOnly',
  }),
  revoked: boolean({
    doc: 'Whether the key is revoked and enrols no more peers.',
    required: true,
    documentDefault: false,
    access: 'updateOnly',
    failsafe: true,
  }),
};

declare module '../../model/state/stored.ts' {
  interface KindTypes {
    SetupKey: { fields: typeof spec; derived: SetupKeyDerived };
  }
}

/** Data that the server keeps about a key and its uses. */
interface SetupKeyDerived {
  /** SHA-256 of the value, in base64. */
  readonly key_hash: string;
  /** First characters of the value. The others are masked. */
  readonly key_mask: string;
  /** ISO 8601, UTC. Absent: it never expires. */
  readonly expires?: string;
  readonly used_times: number;
  /** ISO 8601, UTC. */
  readonly last_used: string;
  /** Id of the peer that used it last. */
  readonly last_peer: string;
  /** Earlier values, which work until they expire. */
  readonly former?: readonly FormerKey[];
}

/** Value that was replaced before it expired. */
type FormerKey = {
  readonly key_hash: string;
  /** ISO 8601, UTC. */
  readonly expires: string;
};

export const setupKey = defineKind({
  name: 'SetupKey',
  doc: 'A key with which machines enrol as peers without the sign-in of a user. Its value is shown once, when it is made.',
  path: '/api/setup-keys',
  idParameter: 'keyId',
  ids: 'integer',
  module: 'setup_keys',
  document: { allowed: true, shortName: 'hkey' },
  dependsOnView: true,
  credential: 'itself',
  spec,
  computed: {
    key: {
      doc: 'The value of the key: in full in the response to its creation, later only its first characters.',
      schema: { type: 'string' },
      value: (object) => object.derived.key_mask ?? '',
    },
    state: {
      doc: 'Whether the key works, or the first reason why it does not.',
      schema: { type: 'string', enum: ['valid', 'expired', 'revoked', 'overused'] },
      value: stateOf,
    },
    valid: {
      doc: 'Whether the key works.',
      schema: { type: 'boolean' },
      value: (object, state) => stateOf(object, state) === 'valid',
    },
    expires: {
      doc: 'When the key stops working; `0001-01-01T00:00:00Z` if never.',
      schema: timestamp,
      value: (object) => object.derived.expires ?? neverTimestamp,
    },
    used_times: { doc: 'Number of peers that have enrolled with the key.', schema: { type: 'integer' }, value: usesOf },
    last_used: {
      doc: 'When a peer last enrolled with the key; `0001-01-01T00:00:00Z` if never.',
      schema: timestamp,
      value: (object) => object.derived.last_used ?? neverTimestamp,
    },
    updated_at: {
      doc: 'When the key was last changed.',
      schema: timestamp,
      value: (object) => object.updatedAt,
    },
  },
  canonicalize: limitOneOff,
  check: checkLimit,
  checkState: checkAutoGroups,
  outputs: ['key'],
  renewal: {
    lifetime: ({ expires_in: seconds }) => (typeof seconds === 'number' && seconds > 0 ? seconds : undefined),
    expires: expiryOf,
    renew: renewKey,
  },
  generate: makeKey,
  entries: { 'setup-key': hashesOf },
  activity: { create: 'setupkey.add', delete: 'setupkey.delete' },
  activityMeta: keyMeta,
  createEvents: createdEvents,
  updateEvents: updatedEvents,
  example: {
    name: 'CI runners',
    type: 'reusable',
    expires_in: 2592000,
    auto_groups: ['ci-runners'],
    usage_limit: 50,
    ephemeral: true,
    allow_extra_dns_labels: false,
  },
});

/** Returns the metadata of events about a key, without its value. */
function keyMeta(key: Stored<'SetupKey'>): Readonly<Record<string, string>> {
  return { name: key.name, type: key.spec.type ?? '', key: key.derived.key_mask ?? '' };
}

/** Returns one event for each group that a new key assigns. */
function createdEvents(after: Stored<'SetupKey'>, state: State): readonly AuditEvent[] {
  return autoGroupEvents('setupkey.group', [], after.spec.auto_groups ?? [], state, { setupkey: after.name });
}

/** Returns an event when the key was revoked, restored or renewed, and one for each group that was added or removed. */
function updatedEvents(before: Stored<'SetupKey'>, after: Stored<'SetupKey'>, state: State): readonly AuditEvent[] {
  const revoked = after.spec.revoked === true;
  const switched = before.spec.revoked !== after.spec.revoked;
  const renewed = before.derived.key_hash !== after.derived.key_hash;
  const groups = [before.spec.auto_groups ?? [], after.spec.auto_groups ?? []] as const;
  return [
    ...eventsIf(switched || renewed, switched && revoked ? 'setupkey.revoke' : 'setupkey.update', keyMeta(after)),
    ...autoGroupEvents('setupkey.group', ...groups, state, { setupkey: after.name }),
  ];
}
