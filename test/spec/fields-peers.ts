import { groupSummary } from './fields-access.ts';
import { one, type PathParameters, type Rows, type Sample, sample } from './row.ts';
import {
  answer,
  boolean,
  both,
  fields,
  integer,
  list,
  type Members,
  mayBeAbsent,
  O,
  R,
  text,
  timestamp,
} from './shape.ts';
import { reportPeer, type World } from './world.ts';

const flags = [
  'quantum_safe_enabled',
  'quantum_safe_permissive',
  'server_ssh_allowed',
  'remote_jobs_allowed',
  'disable_client_routes',
  'disable_server_routes',
  'disable_dns',
  'disable_firewall',
  'block_lan_access',
  'block_inbound',
  'lazy_connection_enabled',
];

const peer = answer({
  id: text,
  name: text,
  created_at: timestamp,
  ip: text,
  ipv6: mayBeAbsent(text, 'specification: omitted if IPv6 is not enabled for the account'),
  network_addresses: list(answer({ net_ip: text, mac: text })),
  connection_ip: text,
  connected: boolean,
  last_seen: timestamp,
  os: text,
  kernel_version: text,
  geoname_id: integer,
  version: text,
  groups: list(groupSummary),
  ssh_enabled: boolean,
  user_id: text,
  hostname: text,
  ui_version: text,
  dns_label: text,
  login_expiration_enabled: boolean,
  login_expired: boolean,
  last_login: timestamp,
  inactivity_expiration_enabled: boolean,
  approval_required: boolean,
  disapproval_reason: mayBeAbsent(text, 'wire facts 6: omitted unless approval is required'),
  country_code: text,
  city_name: text,
  serial_number: text,
  extra_dns_labels: list(text),
  ephemeral: boolean,
  local_flags: answer(Object.fromEntries(flags.map((name) => [name, boolean]))),
});

/** Creates a peer whose user can sign in again, so that its login may expire. Returns its id. */
const newPeer = async (world: World): Promise<string> => {
  await world.once('IPv6', () => allowIpv6(world));
  const id = await world.newPeer();
  const addresses = [{ net_ip: '10.20.0.7/24', mac: '02:42:0a:14:00:07' }];
  const range = String((await world.send('GET', '/api/accounts'))[0].settings.network_range).replace('.0.0/16', '');
  const ip = `${range}.${200 + (world.next() >> 8)}.${world.next() & 255}`;
  const ipv6 = await address(world, 'network_range_v6', (at) => `::88:${at.toString(16)}`);
  const reported = { network_addresses: addresses, disapproval_reason: 'new peers wait' };
  await reportPeer(world, id, reported, { user_id: await world.owner(), ip, ipv6 });
  return id;
};

/** Allows IPv6 addresses for all peers. The specification does not have this setting. */
const allowIpv6 = async (world: World): Promise<string> => {
  const [{ id, settings }] = await world.send('GET', '/api/accounts');
  const [all] = await world.send('GET', '/api/groups?name=All');
  await world.send('PUT', `/api/accounts/${id}`, { settings: { ...settings, ipv6_enabled_groups: [all.id] } });
  return all.id;
};

/** Returns an address in the range of the account that no peer has. */
const address = async (world: World, setting: string, ending: (at: number) => string): Promise<string> => {
  const [{ settings }] = await world.send('GET', '/api/accounts');
  return String(settings[setting]).replace(/(\.0\.0|::)\/\d+$/, ending(world.next()));
};

const peers: Rows = {
  'GET /api/peers': {
    given: newPeer,
    query: { name: 'Peer', ip: '100.', mac: '02:42:0a:14:00:07' },
    answer: list(both(peer, answer({ accessible_peers_count: integer }))),
  },
  'GET /api/peers/{peerId}': { at: one('peerId', newPeer), answer: peer },
  'PUT /api/peers/{peerId}': {
    at: one('peerId', newPeer),
    request: {
      fields: {
        name: R(text),
        ssh_enabled: R(boolean),
        login_expiration_enabled: R(boolean),
        inactivity_expiration_enabled: R(boolean),
        approval_required: O(boolean),
        ip: O(text),
        ipv6: O(text),
      },
      samples: [
        sample(async (world) => ({
          name: world.fresh('Renamed'),
          ssh_enabled: true,
          login_expiration_enabled: true,
          inactivity_expiration_enabled: true,
          // Cloud only: other editions accept only `false`.
          approval_required: world.edition === 'hosted',
          ip: await address(world, 'network_range', (at) => `.77.${at & 255}`),
          ipv6: await address(world, 'network_range_v6', (at) => `::77:${at.toString(16)}`),
        })),
      ],
    },
    answer: peer,
  },
  'DELETE /api/peers/{peerId}': { at: one('peerId', newPeer), answer: 'no body' },
  'GET /api/peers/{peerId}/accessible-peers': {
    at: one('peerId', newPeer),
    answer: list(
      answer({
        id: text,
        name: text,
        ip: text,
        ipv6: mayBeAbsent(text, 'specification: omitted if IPv6 is not enabled for the account'),
        dns_label: text,
        user_id: text,
        os: text,
        country_code: text,
        city_name: text,
        geoname_id: integer,
        connected: boolean,
        last_seen: timestamp,
      }),
    ),
  },
  'POST /api/peers/{peerId}/temporary-access': {
    at: one('peerId', newPeer),
    request: {
      fields: { name: R(text), wg_pub_key: R(text), rules: R(list(text)) },
      samples: [
        sample((world) => ({
          name: world.fresh('browser'),
          wg_pub_key: Buffer.alloc(32, world.next()).toString('base64'),
          rules: ['tcp/22', 'udp/53'],
        })),
      ],
    },
    answer: answer({ name: text, id: text, rules: list(text) }),
  },
};

const mapping = {
  translated_start: integer,
  translated_end: integer,
  ingress_start: integer,
  ingress_end: integer,
  protocol: text,
};

const allocation = answer({
  id: text,
  name: text,
  ingress_peer_id: text,
  region: text,
  enabled: boolean,
  ingress_ip: text,
  port_range_mappings: list(answer(mapping)),
});

const ingressPeer = answer({
  id: text,
  peer_id: text,
  ingress_ip: text,
  available_ports: answer({ tcp: integer, udp: integer }),
  enabled: boolean,
  connected: boolean,
  fallback: boolean,
  region: text,
});

const newIngressPeer = async (world: World): Promise<string> => {
  const body = { peer_id: await newPeer(world), enabled: true, fallback: true };
  return (await world.send('POST', '/api/ingress/peers', body)).id;
};

/** Creates a peer whose ports can be forwarded, in an account that can forward them. */
const forwarded = one('peerId', async (world) => {
  await world.once('ingress', () => newIngressPeer(world));
  return newPeer(world);
});

const atAllocation = async (world: World): Promise<PathParameters> => {
  const { peerId = '' } = await forwarded(world);
  const range = { start: 8443, end: 8443, protocol: 'tcp' };
  const body = { name: 'web', enabled: true, port_ranges: [range] };
  return { peerId, allocationId: (await world.send('POST', `/api/peers/${peerId}/ingress/ports`, body)).id };
};

const allocationFields: Members = {
  name: R(text),
  enabled: R(boolean),
  port_ranges: O(list(fields({ start: R(integer), end: R(integer), protocol: R(text) }))),
  direct_port: O(fields({ count: R(integer), protocol: R(text) })),
};

const either = 'ruling 22: exactly one of port_ranges and direct_port';

/**
 * Returns the sample with no field needed: a PUT keeps the fields that it omits, because answers do not show them and
 * clients could not send them back.
 */
const keeping = ({ body }: Sample): Sample => sample(body);

const allocationSamples = [
  sample(
    (world) => ({
      name: world.fresh('ranges'),
      enabled: true,
      port_ranges: [
        { start: 51820, end: 51829, protocol: 'udp' },
        { start: 443, end: 443, protocol: 'tcp' },
      ],
    }),
    { '/port_ranges': either },
  ),
  sample((world) => ({ name: world.fresh('direct'), enabled: false, direct_port: { count: 2, protocol: 'tcp' } }), {
    '/direct_port': either,
  }),
];

const ingress: Rows = {
  'GET /api/peers/{peerId}/ingress/ports': { at: atAllocation, query: { name: 'web' }, answer: list(allocation) },
  'POST /api/peers/{peerId}/ingress/ports': {
    at: forwarded,
    request: { fields: allocationFields, samples: allocationSamples },
    answer: allocation,
  },
  'GET /api/peers/{peerId}/ingress/ports/{allocationId}': { at: atAllocation, answer: allocation },
  'PUT /api/peers/{peerId}/ingress/ports/{allocationId}': {
    at: atAllocation,
    request: { fields: allocationFields, samples: allocationSamples.map(keeping) },
    answer: allocation,
  },
  'DELETE /api/peers/{peerId}/ingress/ports/{allocationId}': { at: atAllocation, answer: 'no body' },
  'GET /api/ingress/peers': { given: newIngressPeer, answer: list(ingressPeer) },
  'POST /api/ingress/peers': {
    request: {
      fields: { peer_id: R(text), enabled: R(boolean), fallback: R(boolean) },
      samples: [sample(async (world) => ({ peer_id: await newPeer(world), enabled: true, fallback: false }))],
    },
    answer: ingressPeer,
  },
  'GET /api/ingress/peers/{ingressPeerId}': { at: one('ingressPeerId', newIngressPeer), answer: ingressPeer },
  'PUT /api/ingress/peers/{ingressPeerId}': {
    at: one('ingressPeerId', newIngressPeer),
    request: {
      fields: { enabled: R(boolean), fallback: R(boolean) },
      samples: [sample(() => ({ enabled: false, fallback: false })), sample(() => ({ enabled: true, fallback: true }))],
    },
    answer: ingressPeer,
  },
  'DELETE /api/ingress/peers/{ingressPeerId}': { at: one('ingressPeerId', newIngressPeer), answer: 'no body' },
};

/** Operations on peers, and on the ports by which they are reached from outside. */
export const machines: Rows = { ...peers, ...ingress };
