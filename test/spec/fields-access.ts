import type { JsonObject } from '../../src/lib/json.ts';
import { newCheck } from './fields-posture.ts';
import { one, type Rows, sample } from './row.ts';
import { answer, boolean, fields, integer, list, type Members, map, mayBeAbsent, O, R, text } from './shape.ts';
import type { World } from './world.ts';

const absent = 'ruling 3: absent objects are omitted';
const exclusive = 'ruling 3: the unused list of an exclusive pair is omitted';

/** Summary of a group, as other objects embed it. */
export const groupSummary = answer({
  id: text,
  name: text,
  peers_count: integer,
  resources_count: integer,
  issued: text,
});

export const fullGroup = answer({
  id: text,
  name: text,
  peers_count: integer,
  resources_count: integer,
  issued: text,
  peers: list(answer({ id: text, name: text })),
  resources: list(answer({ id: text, type: text })),
});

const groupFields: Members = {
  name: R(text),
  peers: O(list(text)),
  resources: O(list(fields({ id: R(text), type: R(text) }))),
};

const newGroup = async (world: World) => (await world.send('POST', '/api/groups', { name: world.fresh('Group') })).id;

const resource = (world: World) =>
  world.once('a resource of groups', async () => {
    const { id } = await world.send('POST', '/api/networks', { name: 'Behind groups' });
    const body = { name: world.fresh('web'), address: '10.7.7.7', enabled: true, groups: [] };
    return (await world.send('POST', `/api/networks/${id}/resources`, body)).id;
  });

const groupSamples = [
  sample(async (world) => ({
    name: world.fresh('Group'),
    peers: [await world.peer()],
    resources: [{ id: await resource(world), type: 'host' }],
  })),
];

const groups: Rows = {
  'GET /api/groups': { given: newGroup, query: { name: 'All' }, answer: list(fullGroup) },
  'POST /api/groups': { request: { fields: groupFields, samples: groupSamples }, answer: fullGroup },
  'GET /api/groups/{groupId}': { at: one('groupId', newGroup), answer: fullGroup },
  'PUT /api/groups/{groupId}': {
    at: one('groupId', newGroup),
    request: { fields: groupFields, samples: groupSamples },
    answer: fullGroup,
  },
  'DELETE /api/groups/{groupId}': { at: one('groupId', newGroup), answer: 'no body' },
};

const portRange = { start: integer, end: integer };
const endpoint = { id: text, type: text };

const policy = answer({
  id: text,
  name: text,
  description: text,
  enabled: boolean,
  source_posture_checks: list(text),
  rules: list(
    answer({
      id: text,
      name: text,
      description: text,
      enabled: boolean,
      action: text,
      bidirectional: boolean,
      protocol: text,
      ports: mayBeAbsent(list(text), exclusive),
      port_ranges: mayBeAbsent(list(answer(portRange)), exclusive),
      authorized_groups: mayBeAbsent(map(list(text)), absent),
      sources: mayBeAbsent(list(groupSummary), exclusive),
      sourceResource: mayBeAbsent(answer(endpoint), absent),
      destinations: mayBeAbsent(list(groupSummary), exclusive),
      destinationResource: mayBeAbsent(answer(endpoint), absent),
    }),
  ),
});

const resourceFields = fields({ id: R(text), type: R(text) });

const policyFields: Members = {
  name: R(text),
  description: O(text),
  enabled: R(boolean),
  source_posture_checks: O(list(text)),
  rules: R(
    list(
      fields({
        name: R(text),
        description: O(text),
        enabled: R(boolean),
        action: R(text),
        bidirectional: R(boolean),
        protocol: R(text),
        ports: O(list(text)),
        port_ranges: O(list(fields({ start: R(integer), end: R(integer) }))),
        authorized_groups: O(map(list(text))),
        id: O(text),
        sources: O(list(text)),
        sourceResource: O(resourceFields),
        destinations: O(list(text)),
        destinationResource: O(resourceFields),
      }),
    ),
  ),
};

const ends = 'ruling 3: each end of a rule is groups or one resource, and something has to be there';

const bothEnds = { '/rules/0/sources': ends, '/rules/0/destinations': ends };

const policySamples = [
  sample(
    async (world) => ({
      name: world.fresh('Policy'),
      description: 'By groups and ports.',
      enabled: true,
      source_posture_checks: [await world.once('check', () => newCheck(world))],
      rules: [
        {
          name: 'by group',
          description: 'Ports.',
          enabled: true,
          action: 'accept',
          bidirectional: false,
          protocol: 'tcp',
          ports: ['80', '443'],
          sources: [await world.group()],
          destinations: [await world.group()],
        },
      ],
    }),
    bothEnds,
  ),
  sample(
    async (world) => ({
      name: world.fresh('Policy'),
      enabled: true,
      rules: [
        {
          name: 'by resource',
          enabled: true,
          action: 'drop',
          bidirectional: true,
          protocol: 'udp',
          port_ranges: [{ start: 53, end: 53 }],
          sourceResource: { id: await world.peer(), type: 'peer' },
          destinationResource: { id: await resource(world), type: 'host' },
        },
      ],
    }),
    { '/rules/0/sourceResource': ends, '/rules/0/destinationResource': ends },
  ),
  sample(
    async (world) => ({
      name: world.fresh('Policy'),
      enabled: false,
      rules: [
        {
          name: 'logins',
          enabled: true,
          action: 'accept',
          bidirectional: false,
          protocol: 'ssh',
          authorized_groups: { [await world.group()]: ['deploy'] },
          sources: [await world.group()],
          destinations: [await world.group()],
        },
      ],
    }),
    bothEnds,
  ),
];

const withRule = async (world: World, more: JsonObject = {}): Promise<JsonObject> => {
  const rule = { name: 'all', enabled: true, action: 'accept', bidirectional: true, protocol: 'all' };
  const both = { sources: [await world.group()], destinations: [await world.group()] };
  return { name: world.fresh('Policy'), enabled: true, rules: [{ ...more, ...rule, ...both }] };
};

const newPolicy = async (world: World): Promise<string> =>
  (await world.send('POST', '/api/policies', await withRule(world))).id;

const policies: Rows = {
  'GET /api/policies': { given: newPolicy, answer: list(policy) },
  'POST /api/policies': {
    request: {
      fields: policyFields,
      // No rule exists yet that the id could name; wire facts 9: the id is ignored.
      samples: [...policySamples, sample(async (world) => withRule(world, { id: 'ignored' }), bothEnds)],
    },
    answer: policy,
  },
  'GET /api/policies/{policyId}': { at: one('policyId', newPolicy), answer: policy },
  'PUT /api/policies/{policyId}': {
    at: one('policyId', newPolicy),
    request: {
      fields: policyFields,
      // The id of a rule is known only after the policy was created.
      samples: [
        ...policySamples,
        sample(async (world, { policyId }) => {
          const { rules } = await world.send('GET', `/api/policies/${policyId}`);
          return withRule(world, { id: rules[0].id });
        }, bothEnds),
      ],
    },
    answer: policy,
  },
  'DELETE /api/policies/{policyId}': { at: one('policyId', newPolicy), answer: 'no body' },
};

/** Operations on groups and policies. */
export const access: Rows = { ...groups, ...policies };
