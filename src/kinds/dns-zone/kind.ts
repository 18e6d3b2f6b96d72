import { defineKind } from '../../model/declare/kind.ts';
import { boolean, refs, string } from '../../model/schema/field.ts';
import { domain } from '../shared/formats.ts';
import { checkDomain } from './rules.ts';

const spec = {
  name: string({ doc: 'The name people see.', required: true, minLength: 1, maxLength: 255 }),
  domain: string({
    doc: 'The domain that the zone answers for. No two zones of an account share one.',
    required: true,
    minLength: 1,
    format: domain,
  }),
  enabled: boolean({ doc: 'Whether peers resolve the zone.', default: true }),
  enable_search_domain: boolean({
    doc: 'Whether short names are completed with the domain of the zone.',
    required: true,
    documentDefault: false,
  }),
  distribution_groups: refs('Group', { doc: 'Groups whose peers resolve the zone.', required: true, minItems: 1 }),
};

declare module '../../model/state/stored.ts' {
  interface KindTypes {
    DNSZone: { fields: typeof spec; derived: object };
  }
}

export const dnsZone = defineKind({
  name: 'DNSZone',
  doc: 'A domain of your own, which the peers of some groups resolve inside the mesh.',
  path: '/api/dns/zones',
  idParameter: 'zoneId',
  module: 'dns',
  document: { allowed: true, shortName: 'hzone' },
  spec,
  uniques: {
    domain: {
      path: '/domain',
      value: (object) => object.spec.domain ?? '',
      message: (value) => `a zone for \`${value}\` already exists; add records to it or choose another domain`,
    },
  },
  indexes: { domain: (object) => [object.spec.domain ?? ''] },
  checkState: checkDomain,
  activity: { create: 'dns.zone.create', update: 'dns.zone.update', delete: 'dns.zone.delete' },
  activityMeta: (object) => ({ name: object.name, domain: object.spec.domain ?? '' }),
  example: {
    name: 'Internal services',
    domain: 'services.example.com',
    enabled: true,
    enable_search_domain: false,
    distribution_groups: ['developers'],
  },
});
