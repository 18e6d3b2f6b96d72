import { protocols, protocolsWithPorts } from '../../model/declare/access-words.ts';
import { defineKind } from '../../model/declare/kind.ts';
import { longest, oneOf, optionalString, ref, string, typedRef } from '../../model/schema/field.ts';
import { portOrRange } from '../shared/formats.ts';

const resourceKinds = { peer: 'Peer', host: 'NetworkResource', subnet: 'NetworkResource', domain: 'NetworkResource' };

const spec = {
  name: string({ doc: 'The name people see.', maxLength: longest.name, required: true, minLength: 1 }),
  description: string({ doc: 'What the test is for.', default: '' }),
  from: ref('Group', {
    doc: 'The group whose peers would open the connection, each of them. Give either this or `fromResource`.',
    omitEmpty: 'always',
  }),
  fromResource: typedRef({ peer: 'Peer' }, { doc: 'One peer in place of `from`.', omitEmpty: 'always' }),
  to: ref('Group', {
    doc: 'The group whose peers and resources would be reached, each of them. Give either this or `toResource`.',
    omitEmpty: 'always',
  }),
  toResource: typedRef(resourceKinds, { doc: 'One peer or resource in place of `to`.', omitEmpty: 'always' }),
  protocol: oneOf(protocols, {
    doc: 'The traffic that the test is about.',
    default: 'all',
  }),
  port: optionalString({
    doc: 'A port as text, or a range such as `8000-8010`; without it the test is about all of them, for `ssh` about its usual one.',
    format: portOrRange,
    omitEmpty: 'always',
  }),
  expect: oneOf(['allow', 'deny'], {
    doc: 'Whether all of it must pass between every pair, or nothing of it between any.',
    required: true,
  }),
  enforce: oneOf(['plans', 'always'], {
    doc: 'Whether plans alone are held against it, or requests that change objects one by one as well.',
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
  doc: 'Expects that something may be reached, or may not. Every plan is held against it: one that breaks it is refused, and the rule that decides is named.',
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
