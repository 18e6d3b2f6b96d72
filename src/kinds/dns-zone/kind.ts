import { isWithin } from '../../lib/net/domain.ts';
import { defineKind, type Fault, type State } from '../../model/declare/kind.ts';
import { peerDomainOf } from '../../model/declare/peer-domain.ts';
import { boolean, refs, string } from '../../model/schema/field.ts';
import type { Stored } from '../../model/state/stored.ts';
import { domain } from '../shared/formats.ts';

const maxListedNames = 10;

/** Checks that the domain is not the domain of peers, and that every record of the zone is inside it. */
function checkDomain(zone: Stored<'DNSZone'>, state: State): readonly Fault[] {
  const domain = zone.spec.domain ?? '';
  const [account] = state.ofKind('Account');
  return [
    ...(peerDomainOf(account) === domain ? [reservedDomainFault(domain)] : []),
    ...checkRecordsWithin(zone, domain, state),
  ];
}

function reservedDomainFault(domain: string): Fault {
  const message = `\`${domain}\` is the domain of the peers of this account; choose a domain below it or another one`;
  return { code: 'zone_domain_reserved', path: '/domain', message };
}

/** Checks only records that existed before: records created in the same step are checked by their own rules. */
function checkRecordsWithin(zone: Stored<'DNSZone'>, domain: string, state: State): readonly Fault[] {
  const names = state
    .childrenOf(zone.id, 'DNSRecord')
    .filter(({ name, createdRevision }) => createdRevision < zone.updatedRevision && !isWithin(name, domain));
  if (names.length === 0) return [];
  const shown = [...new Set(names.map(({ name }) => `\`${name}\``))].slice(0, maxListedNames);
  const more = names.length > maxListedNames ? ` and ${names.length - maxListedNames} more` : '';
  const message = `records of the zone would be outside \`${domain}\`: ${shown.join(', ')}${more}; move or delete them first`;
  return [{ code: 'zone_records_outside', path: '/domain', message }];
}

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
