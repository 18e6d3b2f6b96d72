import { protocols, protocolsWithPorts } from '../../model/declare/access-words.ts';
import { defineKind } from '../../model/declare/kind.ts';
import { maxLengths, oneOf, optionalString, ref, string, typedRef } from '../../model/schema/field.ts';
import { portOrRange } from '../shared/formats.ts';

const resourceKinds = { peer: 'Peer', host: 'NetworkResource', subnet: 'NetworkResource', domain: 'NetworkResource' };

const spec = {
  name: string({ doc: 'The name people see.', maxLength: maxLengths.name, required: true, minLength: 1 }),
  description: string({ doc: 'What the test is for.', default: '' }),
  from: ref('Group', {
    doc: 'Group with the peers that open the connection; each of them is tested. Give either this or `fromResource`.',
    omitEmpty: 'always',
  }),
  fromResource: typedRef({ peer: 'Peer' }, { doc: 'One peer instead of `from`.', omitEmpty: 'always' }),
  to: ref('Group', {
    doc: 'Group with the peers and resources to reach; each of them is tested. Give either this or `toResource`.',
    omitEmpty: 'always',
  }),
  toResource: typedRef(resourceKinds, { doc: 'One peer or resource instead of `to`.', omitEmpty: 'always' }),
  protocol: oneOf(protocols, {
    doc: 'Protocol of the tested traffic.',
    default: 'all',
  }),
  port: optionalString({
    doc: 'Port as text, or a range such as `8000-8010`. Absent when all ports are tested; for `ssh`, when its usual port is tested.',
    format: portOrRange,
    omitEmpty: 'always',
  }),
  expect: oneOf(['allow', 'deny'], {
    doc: 'Whether all of this traffic must pass between every pair (`allow`), or none of it between any pair (`deny`).',
    required: true,
  }),
  enforce: oneOf(['plans', 'always'], {
    doc: 'Whether only plans are checked against the test (`plans`), or also requests that change single objects (`always`).',
    default: 'plans',
  }),
};

declare module '../../model/state/stored.ts' {
  interface KindTypes {
    AccessTest: { fields: typeof spec; derived: object };
  }
}

export const accessTest = defineKind({
  name: 'AccessTest',
  doc: 'Expects that a connection is allowed or denied. Every plan is checked against it: a plan that breaks it is rejected, and the message names the deciding rule.',
  verbs: [],
  module: 'policies',
  document: { allowed: true, shortName: 'htest' },
  spec,
  rules: [
    { rule: 'exactlyOne', members: ['from', 'fromResource'], code: 'access_test_from_exclusive', at: 'fromResource' },
    { rule: 'exactlyOne', members: ['to', 'toResource'], code: 'access_test_to_exclusive', at: 'toResource' },
    {
      rule: 'onlyWhere',
      members: ['port'],
      where: 'protocol',
      is: protocolsWithPorts,
      code: 'access_test_port_unused',
      at: 'port',
    },
  ],
  activity: {
    create: 'config.access_test.create',
    update: 'config.access_test.update',
    delete: 'config.access_test.delete',
  },
  example: {
    name: 'Developers reach the databases',
    description: 'What the shop depends on.',
    from: 'developers',
    toResource: { id: 'database', type: 'peer' },
    protocol: 'tcp',
    port: '5432',
    expect: 'allow',
    enforce: 'always',
  },
});
