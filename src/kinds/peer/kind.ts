import { boolean, optionalString, setOf, string } from '../../model/field.ts';
import { defineKind } from '../../model/kind.ts';
import { domain, ipv4, ipv6 } from '../shared/formats.ts';
import { derivedText, textOf } from '../shared/stored.ts';
import { peerMeta, updatedEvents } from './events.ts';

export const peer = defineKind({
  name: 'Peer',
  doc: 'A machine of the mesh. Peers come by enrolment, never from documents.',
  module: 'peers',
  document: { allowed: false, why: 'peers enrol; documents never create them, but they may name them' },
  pending: true,
  spec: {
    name: string({ doc: 'The name people see.', required: true, minLength: 1 }),
    hostname: string({ doc: 'The host name that the machine gave at enrolment.', default: '' }),
    dns_label: string({
      doc: 'The first label of its name in the mesh. Documents name the peer by it.',
      required: true,
      minLength: 1,
      maxLength: 63,
      format: domain,
    }),
    extra_dns_labels: setOf(string({ doc: 'A label.', format: domain }), {
      doc: 'Further labels under which the peer is found; several peers may share one.',
    }),
    ip: string({ doc: 'Its IPv4 address in the mesh.', required: true, minLength: 1, format: ipv4 }),
    ipv6: optionalString({ doc: 'Its IPv6 address in the mesh, if it has one.', format: ipv6, omitEmpty: true }),
    wg_pub_key: string({ doc: 'The public key of its tunnel.', default: '' }),
    user_id: string({ doc: 'The user who enrolled it; empty for a peer that came with a setup key.', default: '' }),
    ssh_enabled: boolean({
      doc: 'Whether its SSH server accepts logins from the mesh.',
      required: true,
      documentDefault: false,
    }),
    login_expiration_enabled: boolean({
      doc: 'Whether its user has to sign in again after a while.',
      required: true,
      documentDefault: false,
    }),
    inactivity_expiration_enabled: boolean({
      doc: 'Whether it has to be signed in again after staying away for a while.',
      required: true,
      documentDefault: false,
    }),
    approval_required: boolean({
      doc: 'Whether it still waits for an administrator. Hosted edition only.',
      default: false,
    }),
    ephemeral: boolean({ doc: 'Whether it is deleted some time after it disconnects.', default: false }),
  },
  computed: {
    created_at: {
      doc: 'When the peer enrolled.',
      schema: { type: 'string', format: 'date-time' },
      value: (object) => derivedText(object, 'created_at') ?? object.createdAt,
    },
  },
  summary: ['id', 'name'],
  uniques: {
    ip: {
      path: '/ip',
      value: (object) => textOf(object, 'ip'),
      message: (value) => `a peer with the address ${value} already exists; choose a free one`,
    },
    ipv6: {
      path: '/ipv6',
      value: (object) => textOf(object, 'ipv6') || undefined,
      message: (value) => `a peer with the address ${value} already exists; choose a free one`,
    },
    dns_label: {
      path: '/dns_label',
      value: (object) => textOf(object, 'dns_label'),
      message: (value) => `a peer with the label \`${value}\` already exists; choose another one`,
    },
  },
  inUse: 'precondition',
  activity: { delete: 'user.peer.delete' },
  activityMeta: peerMeta,
  updateEvents: updatedEvents,
  example: {
    name: 'Build server',
    hostname: 'build-server',
    dns_label: 'build-server',
    extra_dns_labels: ['ci'],
    ip: '100.72.0.12',
    ipv6: 'fd00:7a3c:91e2::c',
    wg_pub_key: 'Ff0mTHcHZKFfNLyTGQTz3hLSKbRXVV5Jtlm4jPeAHCM=',
    user_id: '',
    ssh_enabled: true,
    login_expiration_enabled: false,
    inactivity_expiration_enabled: false,
    approval_required: false,
    ephemeral: false,
  },
});
