import { isObject, type JsonObject } from '../../lib/json.ts';
import { defineKind, type State } from '../../model/declare/kind.ts';
import { isReservedPeer } from '../../model/declare/peer-claims.ts';
import { peerDomainOf } from '../../model/declare/peer-domain.ts';
import { boolean, maxLengths, optionalString, ref, setOf, string } from '../../model/schema/field.ts';
import type { Stored } from '../../model/state/stored.ts';
import { domain, ipv4, ipv6 } from '../shared/formats.ts';
import { peerFqdn } from '../shared/peer-fqdn.ts';
import { derivePeerChanges } from './derived-changes.ts';
import { enrolledEvents, peerMeta, updatedEvents } from './events.ts';
import { addressesOf, facts } from './facts.ts';
import { labelsOf } from './label.ts';
import { checkMutation, isEphemeral, isVisibleOwnPeer } from './rules.ts';

const spec = {
  name: string({
    maxLength: maxLengths.name,
    doc: 'The name people see. The DNS label is derived from it, unless documents name the peer.',
    required: true,
    minLength: 1,
  }),
  ssh_enabled: boolean({
    doc: 'Whether its SSH server accepts logins from the mesh.',
    required: true,
    documentDefault: false,
  }),
  login_expiration_enabled: boolean({
    doc: 'Whether its user has to sign in again after some time. Does not apply to peers enrolled with a setup key.',
    required: true,
    documentDefault: false,
  }),
  inactivity_expiration_enabled: boolean({
    doc: 'Whether its user has to sign in again after the peer was disconnected for some time. Does not apply to peers enrolled with a setup key.',
    required: true,
    documentDefault: false,
  }),
  approval_required: boolean({
    doc: 'Whether it still needs the approval of an administrator. Responses also show true while endpoint security blocks it, which cannot be set or cleared.',
    default: false,
    keptOnReplace: true,
    hostedOnly: true,
  }),
  ip: optionalString({
    doc: 'Its IPv4 address in the mesh, inside the range of the account.',
    format: ipv4,
    keptOnReplace: true,
  }),
  ipv6: optionalString({
    doc: 'Its IPv6 address in the mesh, if it has one.',
    format: ipv6,
    keptOnReplace: true,
    omitEmpty: true,
  }),
  hostname: string({ doc: 'The host name that the machine reported at enrolment.', default: '', access: 'server' }),
  dns_label: optionalString({
    doc: 'Its name in the mesh. The first label is its key in documents.',
    default: '',
    maxLength: 63,
    format: domain,
    access: 'server',
  }),
  extra_dns_labels: setOf(string({ doc: 'A name.', format: domain }), {
    doc: 'Additional names under which the peer is found. Several peers may share such a name, unless it is the own name of a peer.',
    access: 'server',
  }),
  wg_pub_key: string({ doc: 'The public key of its tunnel.', default: '', access: 'server', hidden: true }),
  signing_key: string({
    doc: 'The public key with which it proves its identity.',
    default: '',
    access: 'server',
    hidden: true,
  }),
  user_id: ref('User', {
    doc: 'The user who enrolled it; empty for a peer enrolled with a setup key.',
    access: 'server',
  }),
  ephemeral: boolean({
    doc: 'Whether it is deleted some time after it disconnects.',
    default: false,
    access: 'server',
  }),
};

declare module '../../model/state/stored.ts' {
  interface KindTypes {
    Peer: { fields: typeof spec; derived: PeerDerived };
  }
}

/**
 * Data that the server keeps about a peer in addition to the declared fields: how it enrolled, what it last reported,
 * and whether it is signed in.
 */
interface PeerDerived {
  readonly enrolled_by: 'user' | 'setup_key';
  readonly setup_key: string;
  readonly setup_key_name: string;
  readonly login_expired: boolean;
  /** Reason why `login_expired` was set. */
  readonly expiry_reason: string;
  readonly disapproval_reason: string;
  /** Id of the user who requested a temporary peer. */
  readonly made_by: string;
  /** True for a peer that was created to reach one other peer. It is deleted when that access ends. */
  readonly temporary: boolean;
  /** Time of enrolment in ISO 8601. May precede the time when the peer was stored. Absent: that time counts. */
  readonly created_at: string;
  readonly country_code: string;
  readonly connection_ip: string;
}

/**
 * Removes `approval_required` from a request when it only repeats a response. Responses show it as true while endpoint
 * security keeps the peer out, but that is not a missing approval.
 */
function dropEchoes(body: JsonObject, { id, spec }: Stored<'Peer'>, state: State): JsonObject {
  const { approval_required: given, ...others } = body;
  const isEcho = given === true && spec.approval_required !== true && state.disapproval?.(id) !== undefined;
  return isEcho ? others : body;
}

export const peer = defineKind({
  name: 'Peer',
  doc: 'A machine of the mesh. Peers are created by enrolment only; documents state settings of existing peers and are named after their DNS labels.',
  path: '/api/peers',
  idParameter: 'peerId',
  verbs: ['list', 'read', 'replace', 'delete'],
  module: 'peers',
  document: { allowed: true, shortName: 'hpeer', creates: false },
  pending: true,
  observed: 'peers',
  spec,
  computed: facts,
  summary: ['id', 'name'],
  filters: {
    name: {
      doc: 'Only peers with a name that contains this text.',
      matches: ({ name }, value) => name.includes(value),
    },
    ip: {
      doc: 'Only peers with an address in the mesh that contains this text.',
      matches: (object, value) =>
        (['ip', 'ipv6'] as const).some((field) => (object.spec[field] ?? '').includes(value.toLowerCase())),
    },
    mac: {
      doc: 'Only peers with a network interface that has exactly this MAC address.',
      matches: (object, value, state) =>
        addressesOf(object, state).some(
          (item) => isObject(item) && String(item['mac']).toLowerCase() === value.toLowerCase(),
        ),
    },
  },
  uniques: {
    ip: {
      path: '/ip',
      value: (object) => object.spec.ip || undefined,
      message: (value) => `a peer with the address ${value} already exists; choose a free one`,
    },
    ipv6: {
      path: '/ipv6',
      value: (object) => object.spec.ipv6 || undefined,
      message: (value) => `a peer with the address ${value} already exists; choose a free one`,
    },
    wg_pub_key: {
      path: '',
      value: (object) => object.spec.wg_pub_key || undefined,
      message: () => 'a peer with this key already exists; enrol with a new key pair, or log in',
    },
    signing_key: {
      path: '',
      value: (object) => object.spec.signing_key || undefined,
      message: () => 'a peer with this signing key already exists; enrol with a new key, or log in',
    },
    dns_label: {
      path: '/name',
      value: (object) => object.spec.dns_label || undefined,
      message: (value) => `a peer with the label \`${value}\` already exists; choose another name`,
    },
  },
  // A key that is not proved yet stays available to other accounts.
  entries: { 'peer-key': (peer) => (isReservedPeer(peer) ? `claim ${peer.id}` : (peer.spec.wg_pub_key ?? '')) },
  indexes: { label: labelsOf },
  checkMutation,
  isOwn: isVisibleOwnPeer,
  derivedChanges: derivePeerChanges,
  isSystem: isEphemeral,
  inUse: 'precondition',
  activity: { delete: 'user.peer.delete' },
  activityMeta: peerMeta,
  createEvents: enrolledEvents,
  updateEvents: updatedEvents,
  dropEchoes,
  respond: (body, object, state) => ({
    ...body,
    approval_required: body['approval_required'] === true || state.disapproval?.(object.id) !== undefined,
    dns_label: peerFqdn(object, state),
    extra_dns_labels: (object.spec.extra_dns_labels ?? []).map(
      (label) => `${label}.${peerDomainOf(state.ofKind('Account')[0])}`,
    ),
  }),
  example: {
    name: 'Build server',
    ssh_enabled: true,
    login_expiration_enabled: false,
    inactivity_expiration_enabled: false,
    approval_required: false,
    ip: '100.72.0.12',
    ipv6: 'fd00:7a3c:91e2::c',
  },
});
