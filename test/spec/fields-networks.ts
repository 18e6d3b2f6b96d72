import { groupSummary } from './fields-access.ts';
import { one, type PathParameters, type Rows, sample } from './row.ts';
import { answer, boolean, integer, list, type Members, mayBeAbsent, O, R, text } from './shape.ts';
import type { World } from './world.ts';

const exclusive = 'ruling 3: the unused list of an exclusive pair is omitted';
const either = 'ruling 15: either a peer or groups of peers route';

const network = answer({
  id: text,
  name: text,
  description: text,
  routers: list(text),
  routing_peers_count: integer,
  resources: list(text),
  policies: list(text),
});

const networkFields: Members = { name: R(text), description: O(text) };
const networkSamples = [sample((world) => ({ name: world.fresh('Network'), description: 'An office.' }))];

const newNetwork = async (world: World) =>
  (await world.send('POST', '/api/networks', { name: world.fresh('Network') })).id;

/** Creates a network with a resource, a router and a policy for the resource. Returns its id. */
const fullNetwork = async (world: World): Promise<string> => {
  const networkId = await newNetwork(world);
  const id = await newResource(world, networkId);
  await newRouter(world, networkId);
  const rule = { name: 'in', enabled: true, action: 'accept', bidirectional: false, protocol: 'all' };
  const ends = { sources: [await world.group()], destinationResource: { id, type: 'subnet' } };
  await world.send('POST', '/api/policies', { name: world.fresh('In'), enabled: true, rules: [{ ...rule, ...ends }] });
  return networkId;
};

const networks: Rows = {
  'GET /api/networks': { given: fullNetwork, answer: list(network) },
  'POST /api/networks': { request: { fields: networkFields, samples: networkSamples }, answer: network },
  'GET /api/networks/{networkId}': { at: one('networkId', fullNetwork), answer: network },
  'PUT /api/networks/{networkId}': {
    at: one('networkId', newNetwork),
    request: { fields: networkFields, samples: networkSamples },
    answer: network,
  },
  'DELETE /api/networks/{networkId}': { at: one('networkId', newNetwork), answer: 'no body' },
};

const resource = answer({
  id: text,
  type: text,
  groups: list(groupSummary),
  name: text,
  description: text,
  address: text,
  enabled: boolean,
});

const resourceFields: Members = {
  name: R(text),
  description: O(text),
  address: R(text),
  enabled: R(boolean),
  groups: R(list(text)),
};

const resourceSamples = ['10.20.30.0/24', '10.20.30.40', '2001:db8::1/128', '*.internal.example.com'].map((address) =>
  sample(async (world) => ({
    name: world.fresh('Resource'),
    description: 'Behind the network.',
    address,
    enabled: true,
    groups: [await world.group()],
  })),
);

const newResource = async (world: World, networkId: string): Promise<string> => {
  const body = { name: world.fresh('Resource'), address: '10.9.0.0/16', enabled: true, groups: [await world.group()] };
  return (await world.send('POST', `/api/networks/${networkId}/resources`, body)).id;
};

const inNetwork = async (world: World): Promise<PathParameters> => ({ networkId: await newNetwork(world) });

const atResource = async (world: World): Promise<PathParameters> => {
  const networkId = await newNetwork(world);
  return { networkId, resourceId: await newResource(world, networkId) };
};

const resources: Rows = {
  'GET /api/networks/{networkId}/resources': { at: atResource, answer: list(resource) },
  'POST /api/networks/{networkId}/resources': {
    at: inNetwork,
    request: { fields: resourceFields, samples: resourceSamples },
    answer: resource,
  },
  'GET /api/networks/{networkId}/resources/{resourceId}': { at: atResource, answer: resource },
  'PUT /api/networks/{networkId}/resources/{resourceId}': {
    at: atResource,
    request: { fields: resourceFields, samples: resourceSamples },
    answer: resource,
  },
  'DELETE /api/networks/{networkId}/resources/{resourceId}': { at: atResource, answer: 'no body' },
};

const router = answer({
  id: text,
  peer: text,
  peer_groups: mayBeAbsent(list(text), exclusive),
  metric: integer,
  masquerade: boolean,
  enabled: boolean,
});

const routerFields: Members = {
  peer: O(text),
  peer_groups: O(list(text)),
  metric: R(integer),
  masquerade: R(boolean),
  enabled: R(boolean),
};

const routerSamples = [
  sample(async (world) => ({ peer: await world.peer(), metric: 100, masquerade: true, enabled: true }), {
    '/peer': either,
  }),
  sample(async (world) => ({ peer_groups: [await world.group()], metric: 9000, masquerade: false, enabled: false }), {
    '/peer_groups': either,
  }),
];

const newRouter = async (world: World, networkId: string): Promise<string> => {
  const body = { peer_groups: [await world.group()], metric: 1, masquerade: true, enabled: true };
  return (await world.send('POST', `/api/networks/${networkId}/routers`, body)).id;
};

const atRouter = async (world: World): Promise<PathParameters> => {
  const networkId = await newNetwork(world);
  return { networkId, routerId: await newRouter(world, networkId) };
};

const routers: Rows = {
  'GET /api/networks/{networkId}/routers': { at: atRouter, answer: list(router) },
  'POST /api/networks/{networkId}/routers': {
    at: inNetwork,
    request: { fields: routerFields, samples: routerSamples },
    answer: router,
  },
  'GET /api/networks/{networkId}/routers/{routerId}': { at: atRouter, answer: router },
  'PUT /api/networks/{networkId}/routers/{routerId}': {
    at: atRouter,
    request: { fields: routerFields, samples: routerSamples },
    answer: router,
  },
  'DELETE /api/networks/{networkId}/routers/{routerId}': { at: atRouter, answer: 'no body' },
};

const route = answer({
  id: text,
  network_type: text,
  description: text,
  network_id: text,
  enabled: boolean,
  peer: text,
  peer_groups: mayBeAbsent(list(text), exclusive),
  network: mayBeAbsent(text, 'ruling 3: routes of domains omit it'),
  domains: mayBeAbsent(list(text), exclusive),
  metric: integer,
  masquerade: boolean,
  groups: list(text),
  keep_route: boolean,
  access_control_groups: mayBeAbsent(list(text), 'ruling 3: absent objects are omitted'),
  skip_auto_apply: boolean,
});

const routeFields: Members = {
  description: R(text),
  network_id: R(text),
  enabled: R(boolean),
  peer: O(text),
  peer_groups: O(list(text)),
  network: O(text),
  domains: O(list(text)),
  metric: R(integer),
  masquerade: R(boolean),
  groups: R(list(text)),
  keep_route: R(boolean),
  access_control_groups: O(list(text)),
  skip_auto_apply: O(boolean),
};

const target = 'constraint 2: a route leads to a network or to domains';

/** Returns a range that no other route uses, because routes to the same range must not overlap. */
const range = (world: World): string => {
  const at = world.next();
  return `10.${100 + (at >> 8)}.${at & 255}.0/24`;
};

const routeSamples = [
  sample(
    async (world) => ({
      description: 'By a peer.',
      network_id: world.fresh('net'),
      enabled: true,
      peer: await world.peer(),
      network: range(world),
      metric: 100,
      masquerade: true,
      groups: [await world.group()],
      keep_route: false,
      access_control_groups: [await world.group()],
      skip_auto_apply: false,
    }),
    { '/peer': either, '/network': target },
  ),
  sample(
    async (world) => ({
      description: 'By groups.',
      network_id: world.fresh('net'),
      enabled: true,
      peer_groups: [await world.group()],
      domains: [`${world.fresh('app')}.example.com`],
      metric: 9999,
      masquerade: false,
      groups: [await world.group()],
      keep_route: true,
    }),
    { '/peer_groups': either, '/domains': target },
  ),
];

const newRoute = async (world: World) =>
  (await world.send('POST', '/api/routes', await routeSamples[0]?.body(world, {}))).id;

const routes: Rows = {
  'GET /api/routes': { given: newRoute, answer: list(route) },
  'POST /api/routes': { request: { fields: routeFields, samples: routeSamples }, answer: route },
  'GET /api/routes/{routeId}': { at: one('routeId', newRoute), answer: route },
  'PUT /api/routes/{routeId}': {
    at: one('routeId', newRoute),
    request: { fields: routeFields, samples: routeSamples },
    answer: route,
  },
  'DELETE /api/routes/{routeId}': { at: one('routeId', newRoute), answer: 'no body' },
};

/** Operations on networks with their resources and routers, and on routes. */
export const networking: Rows = { ...networks, ...resources, ...routers, ...routes };
