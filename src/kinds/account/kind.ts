import { asObject } from '../../lib/json.ts';
import { defineKind, type State } from '../../model/declare/kind.ts';
import type { DerivedChange, ObjectChange } from '../../model/declare/mutation.ts';
import { boolean, object } from '../../model/schema/field.ts';
import type { Stored } from '../../model/state/stored.ts';
import { propagateAllGroups } from '../shared/propagation.ts';
import { updatedEvents } from './events.ts';
import { readdressPeers } from './readdress.ts';
import {
  checkAgainstAccount,
  checkRanges,
  checkStatedAddresses,
  refuseClaimChange,
  refuseSelfLockout,
  requirePublicRangeApproval,
  warnOfNewAddresses,
} from './rules.ts';
import { settings, unsupportedSettings } from './settings.ts';

const onboarding = {
  signup_form_pending: boolean({
    doc: 'Whether the sign-up form is still to be filled in.',
    default: true,
    keptOnReplace: true,
  }),
  onboarding_flow_pending: boolean({
    doc: 'Whether the guided start is still to be finished.',
    default: true,
    keptOnReplace: true,
  }),
};

const spec = {
  settings: object(settings, {
    doc: 'Settings of the whole account.',
    required: true,
    documentDefault: {},
    unsupported: unsupportedSettings,
    readOnly: {
      embedded_idp_enabled: {
        type: 'boolean',
        description: 'Whether the embedded identity provider is active.',
      },
      local_auth_disabled: {
        type: 'boolean',
        description: 'Whether only external identity providers authenticate.',
      },
    },
  }),
  onboarding: object(onboarding, {
    doc: 'Which steps of the first start are still open.',
    default: {},
    keptOnReplace: true,
  }),
};

declare module '../../model/state/stored.ts' {
  interface KindTypes {
    Account: { fields: typeof spec; derived: AccountDerived };
  }
}

/** Data that the server keeps about an account in addition to its settings. */
interface AccountDerived {
  /** E-mail domain of the organisation. */
  readonly domain: string;
  readonly domain_category: string;
  /** Ids of the account that manages this one as a tenant (`msp`), and of the account that asked to (`msp_invite`). */
  readonly msp: string;
  readonly msp_invite: string;
  /** Domain of peers that the installation was started with. */
  readonly peer_dns_domain: string;
  /** Time of creation in ISO 8601. May precede the time when the object was stored. Absent: that time counts. */
  readonly created_at: string;
}

export const account = defineKind({
  name: 'Account',
  doc: 'The account itself: its settings. There is one, so its document is called `account`.',
  path: '/api/accounts',
  idParameter: 'accountId',
  verbs: ['list', 'replace'],
  // Deletion of an account is controlled by another module: `accounts`.
  module: 'settings',
  document: { allowed: true, shortName: 'hacc' },
  singleton: 'account',
  spec,
  computed: {
    domain: {
      doc: 'The e-mail domain of the account.',
      schema: { type: 'string' },
      value: (object) => object.derived.domain ?? '',
    },
    domain_category: {
      doc: 'Whether that domain belongs to one organisation (`private`) or to a mail provider (`public`).',
      schema: { type: 'string' },
      value: (object) => object.derived.domain_category ?? '',
    },
    created_by: {
      doc: 'The user who made the account.',
      schema: { type: 'string' },
      value: (object) => object.derived.created_by ?? '',
    },
    created_at: {
      doc: 'When the account was made.',
      schema: { type: 'string', format: 'date-time' },
      value: (object) => object.derived.created_at ?? object.createdAt,
    },
  },
  respond: (body, _object, _state, installation) => ({
    ...body,
    settings: {
      ...asObject(body['settings']),
      embedded_idp_enabled: installation.embeddedIdp,
      local_auth_disabled: installation.localAuthDisabled,
    },
  }),
  check: checkRanges,
  checkMutation: (mutation, was, next) => [
    ...refuseSelfLockout(mutation),
    ...refuseClaimChange(mutation, was, next),
    ...checkStatedAddresses(mutation, next),
  ],
  checkState: checkAgainstAccount,
  derivedChanges: deriveAccountChanges,
  warnings: warnOfNewAddresses,
  approvals: requirePublicRangeApproval,
  activity: { create: 'account.create', delete: 'account.delete' },
  activityMeta: (object) => ({
    account_id: object.id,
    domain: object.derived.domain ?? '',
    created_at: object.derived.created_at ?? object.createdAt,
  }),
  updateEvents: updatedEvents,
  example: {
    settings: {
      peer_login_expiration_enabled: true,
      peer_login_expiration: 604800,
      peer_inactivity_expiration_enabled: false,
      peer_inactivity_expiration: 600,
      regular_users_view_blocked: true,
      groups_propagation_enabled: true,
      jwt_groups_enabled: true,
      jwt_groups_claim_name: 'groups',
      jwt_allow_groups: ['mesh-users'],
      routing_peer_dns_resolution_enabled: true,
      dns_domain: 'mesh.example.com',
      network_range: '100.72.0.0/16',
      network_range_v6: 'fd00:7a3c:91e2::/64',
      ipv6_enabled_groups: ['developers'],
      peer_expose_enabled: true,
      peer_expose_groups: ['developers'],
      extra: {
        peer_approval_enabled: false,
        user_approval_required: true,
        network_traffic_logs_enabled: false,
        network_traffic_logs_groups: ['office-gateways'],
        network_traffic_packet_counter_enabled: false,
      },
      lazy_connection_enabled: false,
      auto_update_version: 'latest',
    },
    onboarding: { signup_form_pending: false, onboarding_flow_pending: false },
  },
});

/**
 * Returns the changes that follow from a changed setting: groups of users are put on their peers, waiting peers are
 * approved, and peers get other addresses.
 */
function deriveAccountChanges(
  { before, after }: ObjectChange<Stored<'Account'>>,
  state: State,
): readonly DerivedChange[] {
  if (before === undefined || after === undefined) return [];
  const followers = [
    ...(!isGroupPropagationEnabled(before) && isGroupPropagationEnabled(after) ? propagateAllGroups(state) : []),
    ...(isPeerApprovalRequired(before) && !isPeerApprovalRequired(after) ? approvePeers(state) : []),
  ];
  return [...followers, ...readdressPeers(before, after, state, followers)];
}

function isGroupPropagationEnabled(account: Stored<'Account'>): boolean {
  return account.spec.settings?.groups_propagation_enabled === true;
}

/** Whether new peers wait for the approval of an administrator. */
function isPeerApprovalRequired(account: Stored<'Account'>): boolean {
  return account.spec.settings?.extra?.peer_approval_enabled === true;
}

function approvePeers(state: State): readonly DerivedChange[] {
  return state
    .ofKind('Peer')
    .filter(({ spec }) => spec.approval_required === true)
    .map((peer) => ({ change: peer, spec: { ...peer.spec, approval_required: false } }));
}
