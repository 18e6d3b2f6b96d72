import { defineKind } from '../../model/declare/kind.ts';
import { integer, maxLengths, oneOf, ref, string } from '../../model/schema/field.ts';
import { recordName } from '../shared/formats.ts';
import { canonicalContent, checkContent, checkRecordName, ownerNameOf, recordIdentity, zoneIdOf } from './rules.ts';

const spec = {
  zone: ref('DNSZone', { doc: 'The zone that the record belongs to.', required: true }),
  name: string({
    maxLength: maxLengths.name,
    doc: 'The full name, equal to the domain of the zone or below it. `*` as the first label answers for all names there.',
    required: true,
    minLength: 1,
    format: recordName,
  }),
  type: oneOf(['A', 'AAAA', 'CNAME'], {
    doc: 'What the record holds: an IPv4 address, an IPv6 address or another name.',
    required: true,
  }),
  content: string({
    doc: 'The address for A and AAAA, the domain name for CNAME.',
    required: true,
    minLength: 1,
    maxLength: 255,
  }),
  ttl: integer({
    doc: 'How long resolvers may cache an answer.',
    required: true,
    documentDefault: 300,
    minimum: 0,
    // Maximum TTL of DNS (RFC 2181).
    maximum: 2147483647,
    unit: 'seconds',
  }),
};

declare module '../../model/state/stored.ts' {
  interface KindTypes {
    DNSRecord: { fields: typeof spec; derived: object };
  }
}

export const dnsRecord = defineKind({
  name: 'DNSRecord',
  doc: 'One answer of a DNS zone: an address or another name.',
  path: '/api/dns/zones/{zoneId}/records',
  idParameter: 'recordId',
  module: 'dns',
  document: { allowed: true, shortName: 'hrec' },
  parent: { kind: 'DNSZone', field: 'zone', inline: 'records' },
  spec,
  naturalKey: (spec) => `${spec.name}/${spec.type}/${spec.content}`,
  pairing: (spec) => `${spec.name}/${spec.type}`,
  uniques: {
    record: {
      path: '/content',
      value: (object) => `${zoneIdOf(object)}/${recordIdentity(object)}`,
      message: (value) =>
        `a record \`${value.slice(value.indexOf('/') + 1)}\` already exists in this zone; change that one`,
    },
  },
  indexes: { 'owner-name': (object) => [ownerNameOf(object)] },
  canonicalize: canonicalContent,
  check: checkContent,
  checkState: checkRecordName,
  activity: { create: 'dns.zone.record.create', update: 'dns.zone.record.update', delete: 'dns.zone.record.delete' },
  activityMeta: (object, state) => ({
    name: object.name,
    type: object.spec.type ?? '',
    content: object.spec.content ?? '',
    ttl: String(object.spec.ttl),
    zone_id: zoneIdOf(object),
    zone_name: state.get(zoneIdOf(object))?.name ?? '',
  }),
  example: {
    zone: 'internal-services',
    name: 'git.services.example.com',
    type: 'A',
    content: '10.20.0.10',
    ttl: 300,
  },
});
