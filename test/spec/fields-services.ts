import { reportCertificate } from './logs.ts';
import { one, type Rows, sample } from './row.ts';
import {
  answer,
  boolean,
  fields,
  integer,
  list,
  type Members,
  map,
  mayBeAbsent,
  O,
  R,
  text,
  timestamp,
} from './shape.ts';
import { addCluster, type World } from './world.ts';

const unset = 'ruling 3: absent objects are omitted';
const secret = 'specification: the value is cleared in responses';

const cluster = answer({
  id: text,
  address: text,
  type: text,
  online: boolean,
  connected_proxies: integer,
  supports_custom_ports: boolean,
  require_subdomain: boolean,
  supports_reputation: boolean,
  private: boolean,
});

const options = {
  skip_tls_verify: boolean,
  request_timeout: text,
  path_rewrite: text,
  custom_headers: map(text),
  proxy_protocol: boolean,
  session_idle_timeout: text,
  direct_upstream: boolean,
};

const target = answer({
  target_id: text,
  target_type: text,
  path: mayBeAbsent(text, unset),
  protocol: text,
  host: text,
  port: integer,
  enabled: boolean,
  options: answer({
    ...options,
    skip_tls_verify: mayBeAbsent(boolean, unset),
    proxy_protocol: mayBeAbsent(boolean, unset),
    direct_upstream: mayBeAbsent(boolean, unset),
    request_timeout: mayBeAbsent(text, unset),
    path_rewrite: mayBeAbsent(text, unset),
    custom_headers: mayBeAbsent(map(text), unset),
    session_idle_timeout: mayBeAbsent(text, unset),
  }),
});

const restrictions = {
  allowed_cidrs: list(text),
  blocked_cidrs: list(text),
  allowed_countries: list(text),
  blocked_countries: list(text),
  reputation_mode: text,
};

const service = answer({
  id: text,
  name: text,
  domain: text,
  mode: text,
  listen_port: integer,
  port_auto_assigned: boolean,
  proxy_cluster: mayBeAbsent(text, 'ruling 19: a domain without a known cluster'),
  targets: list(target),
  enabled: boolean,
  terminated: boolean,
  pass_host_header: boolean,
  rewrite_redirects: boolean,
  auth: answer({
    password_auth: mayBeAbsent(answer({ enabled: boolean, password: mayBeAbsent(text, secret) }), unset),
    pin_auth: mayBeAbsent(answer({ enabled: boolean, pin: mayBeAbsent(text, secret) }), unset),
    bearer_auth: mayBeAbsent(answer({ enabled: boolean, distribution_groups: list(text) }), unset),
    link_auth: mayBeAbsent(answer({ enabled: boolean }), unset),
    header_auths: mayBeAbsent(
      list(answer({ enabled: boolean, header: text, value: mayBeAbsent(text, secret) })),
      unset,
    ),
  }),
  access_restrictions: mayBeAbsent(
    answer(Object.fromEntries(Object.entries(restrictions).map(([name, shape]) => [name, mayBeAbsent(shape, unset)]))),
    unset,
  ),
  meta: answer({
    created_at: timestamp,
    certificate_issued_at: mayBeAbsent(timestamp, 'ruling 19: proxies report it'),
    status: text,
  }),
  private: boolean,
  access_groups: mayBeAbsent(list(text), 'wire facts 19: omitted when empty'),
});

const serviceFields: Members = {
  name: R(text),
  domain: R(text),
  mode: O(text),
  listen_port: O(integer),
  targets: O(
    list(
      fields({
        target_id: R(text),
        target_type: R(text),
        path: O(text),
        protocol: R(text),
        host: O(text),
        port: R(integer),
        enabled: R(boolean),
        options: O(fields(Object.fromEntries(Object.entries(options).map(([name, shape]) => [name, O(shape)])))),
      }),
    ),
  ),
  enabled: R(boolean),
  pass_host_header: O(boolean),
  rewrite_redirects: O(boolean),
  auth: O(
    fields({
      password_auth: O(fields({ enabled: R(boolean), password: O(text) })),
      pin_auth: O(fields({ enabled: R(boolean), pin: O(text) })),
      bearer_auth: O(fields({ enabled: R(boolean), distribution_groups: O(list(text)) })),
      link_auth: O(fields({ enabled: R(boolean) })),
      header_auths: O(list(fields({ enabled: R(boolean), header: R(text), value: O(text) }))),
    }),
  ),
  access_restrictions: O(
    fields(Object.fromEntries(Object.entries(restrictions).map(([name, shape]) => [name, O(shape)]))),
  ),
  private: O(boolean),
  access_groups: O(list(text)),
};

const ready = (world: World) =>
  world.once('cluster', async () => {
    const abilities = {
      supports_custom_ports: true,
      supports_reputation: true,
      require_subdomain: true,
      private: true,
    };
    await addCluster(world.api, 'proxy.example.com', abilities);
    return 'proxy.example.com';
  });

const domain = async (world: World) => `${world.fresh('app')}.${await ready(world)}`;

const subnet = (world: World) =>
  world.once('a subnet to serve', async () => {
    const { id } = await world.send('POST', '/api/networks', { name: 'Served' });
    const body = { name: world.fresh('served'), address: '10.44.0.0/16', enabled: true, groups: [] };
    return (await world.send('POST', `/api/networks/${id}/resources`, body)).id;
  });

const noPort = 'wire facts 19: only http needs no port, and http is the default mode';
const wholeAnswer = { '/targets/0/host': 'wire facts 19: a subnet does not say which machine serves' };

const nothingKept = 'wire facts 19: what is enabled needs its secret, when none is stored';
const secretsNeeded = {
  '/auth/password_auth/password': nothingKept,
  '/auth/pin_auth/pin': nothingKept,
  '/auth/header_auths/0/value': nothingKept,
};

/** One body per mode. A mode never changes, so each body is sent to a separate service. */
const serviceSamples = {
  http: sample(
    async (world) => ({
      name: world.fresh('App'),
      domain: await domain(world),
      mode: 'http',
      listen_port: 0,
      targets: [
        {
          target_id: await world.peer(),
          target_type: 'peer',
          path: '/',
          protocol: 'https',
          host: '10.0.0.1',
          port: 8443,
          enabled: true,
          options: {
            ...{ skip_tls_verify: true, request_timeout: '30s', path_rewrite: 'preserve' },
            ...{ custom_headers: { 'X-Team': 'mesh' }, proxy_protocol: false, direct_upstream: true },
          },
        },
      ],
      enabled: true,
      pass_host_header: true,
      rewrite_redirects: true,
      auth: {
        password_auth: { enabled: true, password: 'open sesame' },
        pin_auth: { enabled: true, pin: '1234' },
        bearer_auth: { enabled: true, distribution_groups: [await world.group()] },
        link_auth: { enabled: true },
        header_auths: [{ enabled: true, header: 'X-Api-Key', value: 'k' }],
      },
      access_restrictions: {
        ...{ allowed_cidrs: ['10.0.0.0/8'], blocked_cidrs: ['10.9.0.0/16'] },
        ...{ allowed_countries: ['DE'], blocked_countries: ['FR'], reputation_mode: 'observe' },
      },
    }),
    secretsNeeded,
  ),
  udp: sample(
    async (world) => ({
      name: world.fresh('Game'),
      domain: await domain(world),
      mode: 'udp',
      listen_port: 20_000 + world.next(),
      targets: [
        {
          target_id: await subnet(world),
          target_type: 'subnet',
          protocol: 'udp',
          host: '10.44.0.9',
          port: 9000,
          enabled: true,
          options: { session_idle_timeout: '2m' },
        },
      ],
      enabled: true,
    }),
    { '/mode': noPort, ...wholeAnswer },
  ),
  private: sample(
    async (world) => ({
      name: world.fresh('Inside'),
      domain: await domain(world),
      mode: 'http',
      targets: [],
      enabled: true,
      private: true,
      access_groups: [await world.group()],
    }),
    { '/access_groups': 'constraint 5: a private service has groups' },
  ),
};

const services = '/api/reverse-proxies/services';
const newService = (name: keyof typeof serviceSamples) => async (world: World) =>
  (await world.send('POST', services, await serviceSamples[name].body(world, {}))).id;

/** Creates a service with the mode of the PUT bodies, because a PUT cannot change the mode. */
const replaceable = one('serviceId', newService('http'));

const newCluster = async (world: World): Promise<string> => {
  const address = `${world.fresh('edge')}.example.net`;
  await addCluster(world.api, address, {});
  return address;
};

/** Operations on clusters and services. */
export const reverseProxy: Rows = {
  'GET /api/reverse-proxies/clusters': {
    given: async (world) => [await ready(world), await newCluster(world)],
    answer: list(cluster),
  },
  'DELETE /api/reverse-proxies/clusters/{clusterAddress}': {
    at: one('clusterAddress', newCluster),
    answer: 'no body',
  },
  'GET /api/reverse-proxies/services': { given: newService('http'), answer: list(service) },
  'POST /api/reverse-proxies/services': {
    request: { fields: serviceFields, samples: Object.values(serviceSamples) },
    answer: service,
  },
  'GET /api/reverse-proxies/services/{serviceId}': {
    at: one('serviceId', async (world) => reportCertificate(world, await newService('http')(world))),
    answer: service,
  },
  'PUT /api/reverse-proxies/services/{serviceId}': {
    at: replaceable,
    // Restores the service: a PUT without an authentication method deletes its stored secret, which the next PUT relies
    // on.
    before: async (world, { serviceId = '' }) => {
      const path = `${services}/${serviceId}`;
      const { mode, domain: name } = await world.send('GET', path);
      const body = await serviceSamples[mode as 'http' | 'udp'].body(world, {});
      return world.send('PUT', path, { ...body, domain: name });
    },
    request: {
      fields: serviceFields,
      samples: [
        sample(serviceSamples.http.body),
        // The mode never changes, so a PUT may omit it.
        { ...sample(serviceSamples.udp.body, wholeAnswer), at: one('serviceId', newService('udp')) },
        serviceSamples.private,
      ],
    },
    answer: service,
  },
  'DELETE /api/reverse-proxies/services/{serviceId}': { at: replaceable, answer: 'no body' },
};
