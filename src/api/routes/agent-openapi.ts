import type { JsonObject } from '../../lib/json.ts';
import { json, named, operation } from '../../model/lower/openapi/operation.ts';

const text = (description: string): JsonObject => ({ type: 'string', description });
const time = (description: string): JsonObject => ({ type: 'string', format: 'date-time', description });
const object = (properties: JsonObject, required: readonly string[] = Object.keys(properties)): JsonObject => ({
  type: 'object',
  required,
  properties,
});

/** What proves that a request comes from the machine. */
export const proofParameter: JsonObject = {
  name: 'Heddle-Proof',
  in: 'header',
  required: true,
  description:
    '`key=…, time=…, nonce=…, signature=…`: the public Ed25519 key of the peer, the time, 16 random bytes that were never used before, and the signature of the lines `heddle-agent-v1`, `request`, method, path with query, key, time, nonce and the SHA-256 of the body; everything but the time in base64url. The clock may be off by a minute.',
  schema: { type: 'string' },
};

const facts = object(
  {
    system: text('The operating system in one word: `linux`, `darwin`, `windows`, `android`, `ios` or another.'),
    system_version: text('Its version.'),
    os: text('The name and version that people see; made of these two unless given.'),
    kernel_version: text('The version of its kernel.'),
    version: text('The version of the client.'),
    ui_version: text('The version of its user interface.'),
    serial_number: text('The serial number of the machine.'),
    network_addresses: {
      type: 'array',
      items: object({ net_ip: text('The address with its prefix.'), mac: text('The hardware address.') }),
    },
    local_flags: { type: 'object', additionalProperties: { type: 'boolean' } },
    processes: { type: 'array', items: text('The path of an executable that runs.') },
    certificates: {
      type: 'array',
      items: object({
        chain: { type: 'array', items: text('PEM; the certificate itself first.') },
        signature: text(
          'Of the lines `heddle-agent-v1`, `certificate` and the signing key, by the key of the certificate.',
        ),
      }),
    },
  },
  [],
);

const session = object({
  peer: named('Peer'),
  session: object({
    token: text('Goes into `Authorization: Peer …`; worth nothing without the key.'),
    expires_at: time('When to log in again.'),
  }),
  server_time: time('What the clock of the server says.'),
});

const sessionExample = {
  peer: { id: 'ch8i4ug6lnn4g9hqv7n0', name: 'runner-7', ip: '100.72.0.12', dns_label: 'runner-7.heddle.internal' },
  session: { token: 'nba_…', expires_at: '2026-12-02T01:00:00.000Z' },
  server_time: '2026-12-02T00:00:00.000Z',
};

const key = 'hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo=';
const tag = 'agent';
const outside = 'Not a part of the management interface: machines use it.';

const flow = object(
  {
    flow_id: text('The id of the flow.'),
    ...{ window_start: time('Where the stretch of time begins.'), window_end: time('Where it ends.') },
    protocol: { type: 'integer', description: 'The number of the IP protocol.' },
    ...{ direction: text('`INGRESS` or `EGRESS`.'), connection_type: text('`P2P` or `ROUTED`.') },
    ...{ source_ip: text('Where it came from.'), destination_ip: text('Where it went.') },
    events: { type: 'array', items: object({ type: text('Such as `TYPE_START`.'), timestamp: time('When.') }) },
  },
  ['flow_id', 'window_start', 'window_end', 'source_ip', 'destination_ip', 'events'],
);

const trafficOperation = operation({
  ...{ id: 'reportTraffic', tag, summary: 'Report traffic', open: true },
  description: `${outside} Further members are \`source_port\`, \`destination_port\`, \`…_resource_id\`, \`policy_id\`, \`icmp_type\`, \`icmp_code\` and the counters \`rx_bytes\`, \`rx_packets\`, \`tx_bytes\`, \`tx_packets\`. Stored while the account wants it; \`dropped\` says why not. \`Authorization: Peer <session>\`.`,
  parameters: [proofParameter],
  body: json(
    object({
      batch: {
        ...text('Names the report among those of the peer: repeated, it is stored once.'),
        maxLength: 100,
      },
      records: { type: 'array', items: flow, maxItems: 2000, description: 'At most 2,000.' },
    }),
    { batch: '17', records: [] },
  ),
  answer: json(
    object(
      {
        refused: {
          type: 'array',
          items: object({
            index: { type: 'integer', description: 'Its place.' },
            reason: text('What is wrong with it.'),
          }),
        },
        dropped: text('Why nothing of it was stored.'),
      },
      ['refused'],
    ),
    { refused: [] },
  ),
  uncached: true,
  errors: [400, 401, 403, 413, 415, 422, 429, 503],
});

/** What agents ask for, as OpenAPI says it. */
export const agentPaths: JsonObject = {
  '/agent/challenge': {
    post: operation({
      ...{ id: 'makeChallenge', tag, summary: 'Ask for what has to be answered to enrol', open: true },
      description: `${outside} A machine that enrols proves with it that it holds the key of the tunnel.`,
      answer: json(
        object({
          challenge: text('To be sent back as it is.'),
          public_key: text('An X25519 key of the server, used for a minute; base64url.'),
          server_time: time('What the clock of the server says.'),
          expires_at: time('When the challenge ends.'),
        }),
        {
          ...{ challenge: 'nbc_…', public_key: 'hSDwCYkwp1R0i33ctD73Wg2_Og0mOBr066SpjqqbTmo' },
          ...{ server_time: '2026-12-02T00:00:00.000Z', expires_at: '2026-12-02T00:02:00.000Z' },
        },
      ),
      uncached: true,
      errors: [503],
    }),
  },
  '/agent/enrol': {
    post: operation({
      ...{ id: 'enrolPeer', tag, summary: 'Become a peer', open: true },
      description: `${outside} A setup key lets the machine in, or the user whose token is in \`Authorization\`.`,
      parameters: [proofParameter],
      body: json(
        object(
          {
            setup_key: text('The setup key, unless a user signs the machine in.'),
            hostname: text('The name that the machine has.'),
            name: text('The name for people; the host name unless given.'),
            wg_pub_key: text('The public X25519 key of the tunnel, base64.'),
            tunnel_proof: object({
              challenge: text('From `/agent/challenge`.'),
              mac: text(
                'HMAC-SHA256, base64url, of the lines `heddle-agent-v1`, `tunnel`, the challenge and the signing key, under the secret that the key of the tunnel shares with that of the challenge.',
              ),
            }),
            extra_dns_labels: { type: 'array', items: text('A label; the setup key has to allow it.') },
            facts,
          },
          ['hostname', 'wg_pub_key', 'tunnel_proof'],
        ),
        {
          ...{ setup_key: 'A1B2C3D4-0000-4000-8000-000000000000', hostname: 'runner-7', wg_pub_key: key },
          tunnel_proof: { challenge: 'nbc_…', mac: '…' },
          facts: { system: 'linux', system_version: '13', version: '1.4.2' },
        },
      ),
      answer: json(session, sessionExample),
      uncached: true,
      errors: [400, 401, 403, 409, 413, 415, 422, 429, 503],
    }),
  },
  '/agent/login': {
    post: operation({
      ...{ id: 'logInPeer', tag, summary: 'Get a session', open: true },
      description: `${outside} A peer whose login has expired brings the token of its user in \`Authorization\`.`,
      parameters: [proofParameter],
      body: json(object({ wg_pub_key: text('The public key of the tunnel, base64.'), facts }, ['wg_pub_key']), {
        wg_pub_key: key,
      }),
      answer: json(session, sessionExample),
      uncached: true,
      errors: [400, 401, 403, 404, 413, 415, 422, 429, 503],
    }),
  },
  '/agent/facts': {
    post: operation({
      ...{ id: 'reportFacts', tag, summary: 'Report what the machine is like', open: true },
      description: `${outside} Replaces what was reported before. \`Authorization: Peer <session>\`.`,
      parameters: [proofParameter],
      body: json(facts, { system: 'linux', system_version: '13', version: '1.4.2', processes: ['/usr/sbin/sshd'] }),
      errors: [400, 401, 403, 413, 415, 422, 429, 503],
    }),
  },
  '/agent/traffic': { post: trafficOperation },
};
