import { protocols, protocolsWithPorts, ruleActions } from '../../model/declare/access-words.ts';
import { defineKind } from '../../model/declare/kind.ts';
import {
  boolean,
  integer,
  keyed,
  list,
  maxEntries,
  maxLengths,
  object,
  oneOf,
  refMap,
  refs,
  setOf,
  string,
  typedRef,
} from '../../model/schema/field.ts';
import type { MemberRule } from '../../model/schema/member-rules.ts';
import { port } from '../shared/formats.ts';
import { refuseWrongTypes } from './resources.ts';
import { isDerived, refuseDerivedChange, refuseNewDuplicates, sortPorts, warnOfEnabling } from './rules.ts';

const resourceKinds = { peer: 'Peer', host: 'NetworkResource', subnet: 'NetworkResource', domain: 'NetworkResource' };

const rangeFields = {
  start: integer({ doc: 'First port of the range.', required: true, minimum: 1, maximum: 65535 }),
  end: integer({
    doc: 'Last port of the range; equal to `start` for one port.',
    required: true,
    minimum: 1,
    maximum: 65535,
  }),
};

const risingRange = { rule: 'rising', members: ['start', 'end'], code: 'policy_range_reversed', at: '' } as const;

const ruleRules: readonly MemberRule[] = [
  {
    rule: 'atMostOne',
    members: ['ports', 'port_ranges'],
    code: 'policy_ports_exclusive',
    at: 'port_ranges',
    message: '`ports` and `port_ranges` cannot be combined; write single ports as ranges of one port',
  },
  ...(['ports', 'port_ranges'] as const).map(
    (member): MemberRule => ({
      rule: 'onlyWhere',
      members: [member],
      where: 'protocol',
      is: protocolsWithPorts,
      code: 'policy_ports_unused',
      at: member,
    }),
  ),
  {
    rule: 'exactlyOne',
    members: ['sources', 'sourceResource'],
    code: 'policy_sources_exclusive',
    at: 'sources',
    missingAt: 'sources',
  },
  {
    rule: 'exactlyOne',
    members: ['destinations', 'destinationResource'],
    code: 'policy_destinations_exclusive',
    at: 'destinations',
    missingAt: 'destinations',
  },
];

const ruleFields = {
  name: string({
    doc: 'Name of the rule within the policy.',
    maxLength: maxLengths.name,
    required: true,
    minLength: 1,
  }),
  description: string({ doc: 'What the rule is for.', default: '' }),
  enabled: boolean({ doc: 'Whether the rule has an effect.', required: true, documentDefault: true }),
  action: oneOf(ruleActions, { doc: 'Whether matching traffic is let through or dropped.', required: true }),
  bidirectional: boolean({
    doc: 'Whether destinations may open connections to sources as well.',
    required: true,
    documentDefault: false,
  }),
  protocol: oneOf(protocols, {
    doc: 'Protocol of the traffic that the rule applies to.',
    required: true,
    foreignValues: { 'netbird-ssh': 'ssh' },
  }),
  ports: setOf(string({ doc: 'A port as text.', format: port }), {
    doc: 'Ports, each as text. Without ports and ranges the rule applies to all ports. Cannot be combined with `port_ranges`.',
    maxItems: maxEntries,
    omitEmpty: true,
  }),
  port_ranges: list(object(rangeFields, { doc: 'A range of ports.', rules: [risingRange] }), {
    doc: 'Ranges of ports. Cannot be combined with `ports`; write a single port as a range of one port.',
    maxItems: maxEntries,
    unordered: true,
    omitEmpty: true,
  }),
  authorized_groups: refMap(
    'Group',
    list(string({ doc: 'A local user.', minLength: 1 }), { doc: 'Local users.', maxItems: maxEntries }),
    {
      doc: 'For `ssh`: the local users of the destination that the users of each group may log in as.',
      maxItems: maxEntries,
      omitEmpty: true,
    },
  ),
  sources: refs('Group', {
    doc: 'Groups of peers that open the connections. Give either this or `sourceResource`.',
    answer: 'summaries',
    omitEmpty: 'always',
  }),
  sourceResource: typedRef(resourceKinds, { doc: 'One peer or resource instead of `sources`.', omitEmpty: 'always' }),
  destinations: refs('Group', {
    doc: 'Groups of peers and resources that are reached. Give either this or `destinationResource`.',
    answer: 'summaries',
    omitEmpty: 'always',
  }),
  destinationResource: typedRef(resourceKinds, {
    doc: 'One peer or resource instead of `destinations`.',
    omitEmpty: 'always',
  }),
};

const spec = {
  name: string({ doc: 'The name people see.', maxLength: maxLengths.name, required: true, minLength: 1 }),
  description: string({ doc: 'What the policy is for.', default: '' }),
  enabled: boolean({ doc: 'Whether the rules have an effect.', required: true, documentDefault: true }),
  source_posture_checks: refs('PostureCheck', { doc: 'Posture checks that peers of the sources have to pass.' }),
  rules: keyed(ruleFields, {
    doc: 'The rules, each identified by its name. Their order does not matter.',
    key: 'name',
    ids: true,
    required: true,
    minItems: 1,
    maxItems: maxEntries,
    rules: ruleRules,
  }),
};

declare module '../../model/state/stored.ts' {
  interface KindTypes {
    Policy: { fields: typeof spec; derived: { readonly temporary: boolean } };
  }
}

export const policy = defineKind({
  name: 'Policy',
  doc: 'Rules about which peers and resources may reach each other. Peers reach each other only where a rule of an enabled policy allows it.',
  path: '/api/policies',
  idParameter: 'policyId',
  module: 'policies',
  document: { allowed: true, shortName: 'hpol' },
  spec,
  canonicalize: sortPorts,
  checkMutation: (mutation, _was, next) => [
    ...refuseDerivedChange(mutation),
    ...refuseNewDuplicates(mutation),
    ...refuseWrongTypes(mutation, next),
  ],
  warnings: warnOfEnabling,
  activity: { create: 'policy.add', update: 'policy.update', delete: 'policy.delete' },
  isSystem: isDerived,
  example: {
    name: 'Developers to databases',
    description: 'Developers reach the databases, and log in on the build server.',
    enabled: true,
    source_posture_checks: ['healthy-machines'],
    rules: [
      {
        name: 'postgres',
        description: 'PostgreSQL and its connection pool.',
        enabled: true,
        action: 'accept',
        bidirectional: false,
        protocol: 'tcp',
        ports: ['5432', '6432'],
        sources: ['developers'],
        destinations: ['databases'],
      },
      {
        name: 'shell',
        description: 'Log in as the deploy user.',
        enabled: true,
        action: 'accept',
        bidirectional: false,
        protocol: 'ssh',
        port_ranges: [{ start: 22, end: 22 }],
        authorized_groups: { developers: ['deploy'] },
        sources: ['developers'],
        destinationResource: { id: 'build-server', type: 'peer' },
      },
    ],
  },
});
