import { objectOfKind, optional, text, time } from '../model/operation/fields.ts';
import { defineOperation } from '../model/operation/operation.ts';
import { boolean, integer, list, mapOf, object, string } from '../model/schema/field.ts';

/** First sentence of the description of every agent operation. */
export const outside = 'Not a part of the management interface: machines use it.';

const ofAgent = {
  method: 'POST',
  tag: 'agent',
  /** Proof that the request comes from the machine. */
  parameters: ['HeddleProof'],
} as const;

/** Declarations that all operations of peers with a session share. */
export const ofSession = {
  tag: ofAgent.tag,
  access: { open: 'wants the session of a peer and a proof by its key' },
  parameters: ofAgent.parameters,
  errors: ['unauthenticated', 'not_allowed'],
} as const;

const word = (doc: string) => optional(text(doc));

const certificate = object(
  {
    chain: list(text('PEM; the certificate itself first.'), { doc: '' }),
    signature: text(
      'Of the lines `heddle-agent-v1`, `certificate` and the signing key, by the key of the certificate.',
    ),
  },
  { doc: '' },
);

const address = object(
  { net_ip: text('The address with its prefix.'), mac: text('The hardware address.') },
  { doc: '' },
);

const facts = {
  system: word('The operating system in one word: `linux`, `darwin`, `windows`, `android`, `ios` or another.'),
  system_version: word('Its version.'),
  os: word('The name and version that people see; made of these two unless given.'),
  kernel_version: word('The version of its kernel.'),
  version: word('The version of the client.'),
  ui_version: word('The version of its user interface.'),
  serial_number: word('The serial number of the machine.'),
  network_addresses: optional(list(address, { doc: '' })),
  local_flags: optional(mapOf(boolean({ doc: '' }), { doc: '' })),
  processes: optional(list(text('The path of an executable that runs.'), { doc: '' })),
  certificates: optional(list(certificate, { doc: '' })),
};
const ownFacts = optional(object(facts, { doc: '', schema: 'PeerFacts' }));

const session = object(
  {
    peer: objectOfKind('Peer'),
    session: object(
      {
        token: string({ doc: 'Goes into `Authorization: Peer …`; worth nothing without the key.' }),
        expires_at: time({ doc: 'When to log in again.' }),
      },
      { doc: '' },
    ),
    server_time: time({ doc: 'What the clock of the server says.' }),
  },
  { doc: 'The session of a peer.', schema: 'PeerSession' },
);

const sessionExample = {
  peer: {
    ...{ id: 'ch8i4ug6lnn4g9hqv7n0', name: 'runner-7', hostname: 'runner-7', user_id: '', ephemeral: false },
    ...{ ip: '100.72.0.12', dns_label: 'runner-7.heddle.internal', extra_dns_labels: [], approval_required: false },
    ...{ ssh_enabled: false, login_expiration_enabled: false, inactivity_expiration_enabled: false },
  },
  session: { token: 'nba_…', expires_at: '2026-12-02T01:00:00.000Z' },
  server_time: '2026-12-02T00:00:00.000Z',
};

const key = 'hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo=';
const tunnelKey = text('The public key of the tunnel, base64.');

/** Operations that agents call. */
export const agent = {
  challenge: defineOperation({
    id: 'makeChallenge',
    method: 'POST',
    path: '/agent/challenge',
    access: { open: 'shows nothing of any account' },
    tag: ofAgent.tag,
    summary: 'Ask for what has to be answered to enrol',
    doc: `${outside} A machine that enrols proves with it that it holds the key of the tunnel.`,
    answer: object(
      {
        challenge: string({ doc: 'To be sent back as it is.' }),
        public_key: string({ doc: 'An X25519 key of the server, used for a minute; base64url.' }),
        server_time: time({ doc: 'What the clock of the server says.' }),
        expires_at: time({ doc: 'When the challenge ends.' }),
      },
      { doc: 'What a machine that enrols has to answer.', schema: 'Challenge' },
    ),
    noStore: true,
    example: {
      answer: {
        ...{ challenge: 'nbc_…', public_key: 'hSDwCYkwp1R0i33ctD73Wg2_Og0mOBr066SpjqqbTmo' },
        ...{ server_time: '2026-12-02T00:00:00.000Z', expires_at: '2026-12-02T00:02:00.000Z' },
      },
    },
  }),
  enrol: defineOperation({
    ...ofAgent,
    id: 'enrolPeer',
    path: '/agent/enrol',
    access: { open: 'wants a proof by the key of the machine, and a setup key or the token of a user' },
    summary: 'Become a peer',
    doc: `${outside} A setup key lets the machine in, or the user whose token is in \`Authorization\`.`,
    uncheckedBody: {
      setup_key: word('The setup key, unless a user signs the machine in.'),
      hostname: text('The name that the machine has.'),
      name: word('The name for people; the host name unless given.'),
      wg_pub_key: text('The public X25519 key of the tunnel, base64.'),
      tunnel_proof: object(
        {
          challenge: text('From `/agent/challenge`.'),
          mac: text(
            'HMAC-SHA256, base64url, of the lines `heddle-agent-v1`, `tunnel`, the challenge and the signing key, under the secret that the key of the tunnel shares with that of the challenge.',
          ),
        },
        { doc: '' },
      ),
      extra_dns_labels: optional(list(text('A label; the setup key has to allow it.'), { doc: '' })),
      facts: ownFacts,
    },
    answer: session,
    noStore: true,
    errors: ['unauthenticated', 'not_allowed', 'conflict'],
    example: {
      body: {
        ...{ setup_key: 'A1B2C3D4-0000-4000-8000-000000000000', hostname: 'runner-7', wg_pub_key: key },
        tunnel_proof: { challenge: 'nbc_…', mac: '…' },
        facts: { system: 'linux', system_version: '13', version: '1.4.2' },
      },
      answer: sessionExample,
    },
  }),
  login: defineOperation({
    ...ofAgent,
    id: 'logInPeer',
    path: '/agent/login',
    access: { open: 'wants a proof by the key of the peer' },
    summary: 'Get a session',
    doc: `${outside} A peer whose login has expired brings the token of its user in \`Authorization\`.`,
    uncheckedBody: { wg_pub_key: tunnelKey, facts: ownFacts },
    answer: session,
    noStore: true,
    errors: ['unauthenticated', 'not_allowed', 'not_found'],
    example: { body: { wg_pub_key: key }, answer: sessionExample },
  }),
  reportFacts: defineOperation({
    ...ofSession,
    id: 'reportFacts',
    method: 'POST',
    path: '/agent/facts',
    summary: 'Report what the machine is like',
    doc: `${outside} Replaces what was reported before. \`Authorization: Peer <session>\`.`,
    uncheckedBody: facts,
    example: {
      body: { system: 'linux', system_version: '13', version: '1.4.2', processes: ['/usr/sbin/sshd'] },
    },
  }),
  reportTraffic: defineOperation({
    ...ofSession,
    id: 'reportTraffic',
    method: 'POST',
    path: '/agent/traffic',
    summary: 'Report traffic',
    doc: `${outside} Further members are \`source_port\`, \`destination_port\`, \`…_resource_id\`, \`policy_id\`, \`icmp_type\`, \`icmp_code\` and the counters \`rx_bytes\`, \`rx_packets\`, \`tx_bytes\`, \`tx_packets\`. Stored while the account wants it; \`dropped\` says why not. \`Authorization: Peer <session>\`.`,
    uncheckedBody: {
      batch: string({
        doc: 'Names the report among those of the peer: repeated, it is stored once.',
        maxLength: 100,
      }),
      records: list(
        object(
          {
            flow_id: text('The id of the flow.'),
            window_start: time({ doc: 'Where the stretch of time begins.' }),
            window_end: time({ doc: 'Where it ends.' }),
            protocol: optional(integer({ doc: 'The number of the IP protocol.' })),
            direction: word('`INGRESS` or `EGRESS`.'),
            connection_type: word('`P2P` or `ROUTED`.'),
            source_ip: text('Where it came from.'),
            destination_ip: text('Where it went.'),
            events: list(
              object({ type: text('Such as `TYPE_START`.'), timestamp: time({ doc: 'When.' }) }, { doc: '' }),
              { doc: '' },
            ),
          },
          { doc: '', schema: 'FlowReport' },
        ),
        { doc: 'At most 2,000.', maxItems: 2000 },
      ),
    },
    answer: object(
      {
        refused: list(
          object(
            { index: integer({ doc: 'Its place.' }), reason: string({ doc: 'What is wrong with it.' }) },
            { doc: '', schema: 'RefusedItem' },
          ),
          { doc: '' },
        ),
        dropped: word('Why nothing of it was stored.'),
      },
      { doc: 'What became of a report of traffic.', schema: 'TrafficReportAnswer' },
    ),
    example: { body: { batch: '17', records: [] }, answer: { refused: [] } },
  }),
};
