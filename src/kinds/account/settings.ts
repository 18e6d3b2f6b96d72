import { boolean, integer, maxEntries, object, optionalString, refs, setOf, string } from '../../model/schema/field.ts';
import type { Format } from '../../model/schema/format.ts';
import { cidr, domain } from '../shared/formats.ts';

const version: Format = {
  name: 'version',
  canonical(text) {
    const known =
      ['latest', 'disabled'].includes(text) || /^\d+\.\d+\.\d+(-[\dA-Za-z.-]+)?(\+[\dA-Za-z.-]+)?$/.test(text);
    if (known) return { value: text };
    return { fault: `\`${text}\` is not a version; write \`latest\`, \`disabled\` or one such as 1.4.2` };
  },
};

const extra = {
  peer_approval_enabled: boolean({
    doc: 'Whether new peers need the approval of an administrator. Hosted edition only.',
    required: true,
    documentDefault: false,
    hostedOnly: true,
  }),
  user_approval_required: boolean({
    doc: 'Whether people who join by their e-mail domain need the approval of an administrator.',
    required: true,
    documentDefault: true,
  }),
  network_traffic_logs_enabled: boolean({
    doc: 'Whether traffic events are stored.',
    required: true,
    documentDefault: false,
  }),
  network_traffic_logs_groups: refs('Group', {
    doc: 'Groups whose traffic is stored; none means all peers.',
    required: true,
    documentDefault: [],
  }),
  network_traffic_packet_counter_enabled: boolean({
    doc: 'Whether packets and bytes are counted, at a small cost in speed.',
    required: true,
    documentDefault: false,
  }),
};

/** Settings of an account. The defaults apply to a new account. */
export const settings = {
  peer_login_expiration_enabled: boolean({
    doc: 'Whether people have to sign in again after a while to keep their peers connected.',
    required: true,
    documentDefault: true,
  }),
  peer_login_expiration: integer({
    doc: 'How long a sign-in lasts.',
    required: true,
    documentDefault: 86400,
    minimum: 3600,
    maximum: 15552000,
    unit: 'seconds',
  }),
  peer_inactivity_expiration_enabled: boolean({
    doc: 'Whether peers that were disconnected for a while need a new sign-in.',
    required: true,
    documentDefault: false,
  }),
  peer_inactivity_expiration: integer({
    doc: 'How long a peer may be disconnected before it needs a new sign-in.',
    required: true,
    documentDefault: 600,
    minimum: 0,
    unit: 'seconds',
  }),
  regular_users_view_blocked: boolean({
    doc: 'Whether regular users see only their own objects.',
    required: true,
    documentDefault: true,
  }),
  groups_propagation_enabled: boolean({
    doc: 'Whether new groups of a user are also given to the existing peers of the user.',
    default: true,
  }),
  jwt_groups_enabled: boolean({ doc: 'Whether groups are taken from a claim of the sign-in token.', default: false }),
  jwt_groups_claim_name: string({ doc: 'The claim that holds the names of the groups.', default: '' }),
  jwt_allow_groups: setOf(string({ doc: 'A name in the claim.', minLength: 1 }), {
    doc: 'Names of groups in the claim; a person needs one of them to be let in. If the list is empty, everybody is let in.',
    maxItems: maxEntries,
  }),
  routing_peer_dns_resolution_enabled: boolean({
    doc: 'Whether routing peers resolve the domains that they route.',
    default: true,
  }),
  dns_domain: optionalString({
    doc: 'The domain below which peers have their names. Without it the domain of the installation is used.',
    format: domain,
  }),
  network_range: optionalString({
    doc: 'The IPv4 range from which peers get their addresses. A change gives every peer outside it a new address.',
    format: cidr,
    keptOnReplace: true,
  }),
  network_range_v6: optionalString({
    doc: 'The IPv6 range from which peers get their addresses. A change gives every peer outside it a new address.',
    format: cidr,
    keptOnReplace: true,
  }),
  // Not in the specification: clients that only know the specification never send it.
  ipv6_enabled_groups: refs('Group', { doc: 'Groups whose peers also get an IPv6 address.', keptOnReplace: 'absent' }),
  // Not in the specification, like `ipv6_enabled_groups`.
  local_mfa_enabled: boolean({
    doc: 'Whether people who sign in with a password of this server need a second factor; people without one set it up at the next sign-in.',
    default: false,
    keptOnReplace: 'absent',
  }),
  peer_expose_enabled: boolean({
    doc: 'Whether peers may publish local services through the reverse proxy.',
    required: true,
    documentDefault: false,
  }),
  peer_expose_groups: refs('Group', {
    doc: 'Groups whose peers may publish services; none means all peers.',
    required: true,
    documentDefault: [],
  }),
  extra: object(extra, { doc: 'Settings of approval and traffic logs.', default: {}, keptOnReplace: true }),
  lazy_connection_enabled: boolean({
    doc: 'Experimental: whether peers connect to each other only when there is traffic.',
    default: true,
  }),
  auto_update_version: string({
    doc: 'The client version that peers update to: `latest`, `disabled` or one version.',
    default: 'disabled',
    format: version,
  }),
};

/** Settings outside the specification that clients of other servers send. None of them is supported here. */
export const unsupportedSettings = {
  auto_update_always: { value: false, hint: 'peers update as `auto_update_version` says' },
  metrics_push_enabled: { value: false, hint: 'metrics of the server are read at `/metrics`' },
  agent_network_only: { value: false, hint: 'there is no gateway for agents; leave it out' },
  dashboard_features: { value: { agent_network: false }, hint: 'there is no gateway for agents; leave it out' },
} as const;
