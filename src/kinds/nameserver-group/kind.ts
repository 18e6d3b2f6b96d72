import { defineKind } from '../../model/declare/kind.ts';
import { boolean, integer, list, maxEntries, object, oneOf, refs, setOf, string } from '../../model/schema/field.ts';
import { address, domain } from '../shared/formats.ts';
import { uniqueName } from '../shared/unique-name.ts';

const server = {
  ip: string({ doc: 'The IPv4 or IPv6 address of the server.', required: true, minLength: 1, format: address }),
  ns_type: oneOf(['udp'], { doc: 'Protocol of the queries to the server.', default: 'udp' }),
  port: integer({ doc: 'The port of the server.', default: 53, minimum: 1, maximum: 65535 }),
};

const spec = {
  name: string({
    doc: 'The name people see. Unique among the nameserver groups of the account.',
    required: true,
    minLength: 1,
    maxLength: 40,
  }),
  description: string({ doc: 'What the servers are for.', default: '' }),
  nameservers: list(object(server, { doc: 'A server.' }), {
    doc: 'One to three servers, in the order in which they are queried.',
    required: true,
    minItems: 1,
    maxItems: 3,
  }),
  enabled: boolean({ doc: 'Whether peers use the servers.', required: true, documentDefault: true }),
  groups: refs('Group', { doc: 'Groups of peers that use the servers.', required: true, minItems: 1 }),
  primary: boolean({
    doc: 'Whether the servers answer for all domains. If true, leave `domains` empty.',
    default: false,
  }),
  domains: setOf(string({ doc: 'A domain, without wildcard.', minLength: 1, format: domain }), {
    doc: 'Domains that the servers are queried for, with everything below them.',
    maxItems: maxEntries,
  }),
  search_domains_enabled: boolean({
    doc: 'Whether the domains are search domains, which complete short names.',
    default: false,
  }),
};

declare module '../../model/state/stored.ts' {
  interface KindTypes {
    NameserverGroup: { fields: typeof spec; derived: object };
  }
}

export const nameserverGroup = defineKind({
  name: 'NameserverGroup',
  doc: 'DNS servers for the peers of some groups: for certain domains, or (`primary`) for all.',
  path: '/api/dns/nameservers',
  idParameter: 'nsgroupId',
  module: 'nameservers',
  document: { allowed: true, shortName: 'hns' },
  spec,
  uniques: {
    name: uniqueName('a nameserver group'),
  },
  rules: [
    {
      rule: 'exactlyOne',
      members: ['primary', 'domains'],
      code: 'nameserver_domains_exclusive',
      at: 'domains',
      missingAt: 'domains',
      message:
        'a primary group answers for all domains, any other group only for its `domains`; give either `primary: true` or `domains`',
    },
    {
      rule: 'atMostOne',
      members: ['primary', 'search_domains_enabled'],
      code: 'nameserver_search_unused',
      at: 'search_domains_enabled',
      message: 'a primary group has no domains to complete names with; set `search_domains_enabled` to false',
    },
  ],
  activity: {
    create: 'nameserver.group.add',
    update: 'nameserver.group.update',
    delete: 'nameserver.group.delete',
  },
  example: {
    name: 'Office DNS',
    description: 'The servers in the office know the names of its machines.',
    nameservers: [
      { ip: '10.20.0.53', ns_type: 'udp', port: 53 },
      { ip: '10.20.1.53', ns_type: 'udp', port: 53 },
    ],
    enabled: true,
    groups: ['developers'],
    primary: false,
    domains: ['office.example.com'],
    search_domains_enabled: true,
  },
});
