import { objectOfKind, optional, text, time } from '../model/operation/fields.ts';
import { defineOperation } from '../model/operation/operation.ts';
import { boolean, integer, list, mapOf, object, string } from '../model/schema/field.ts';

/** First sentence of the description of every agent operation. */
export const agentDocPrefix = 'Used by machines; not part of the management interface.';

const agentDeclaration = {
  method: 'POST',
  tag: 'agent',
  /** Proof that the request comes from the machine. */
  parameters: ['HeddleProof'],
} as const;

/** Declarations that all operations of peers with a session share. */
export const sessionDeclaration = {
  tag: agentDeclaration.tag,
  access: { open: 'needs the session of a peer and a proof by its key' },
  parameters: agentDeclaration.parameters,
  errors: ['unauthenticated', 'not_allowed'],
} as const;

const optionalText = (doc: string) => optional(text(doc));

const certificate = object(
  {
    chain: list(text('Certificate in PEM format; the first one is the certificate itself.'), { doc: '' }),
    signature: text(
      'Signature over the lines `heddle-agent-v1`, `certificate` and the signing key, made with the key of the certificate.',
    ),
  },
  { doc: '' },
);

const address = object(
  { net_ip: text('IP address with its prefix length.'), mac: text('Hardware (MAC) address.') },
  { doc: '' },
);

const peerFacts = {
  system: optionalText('The operating system in one word: `linux`, `darwin`, `windows`, `android`, `ios` or another.'),
  system_version: optionalText('Its version.'),
  os: optionalText(
    'Name and version of the operating system for display. Default: made from `system` and `system_version`.',
  ),
  kernel_version: optionalText('The version of its kernel.'),
  version: optionalText('The version of the client.'),
  ui_version: optionalText('The version of its user interface.'),
  serial_number: optionalText('The serial number of the machine.'),
  network_addresses: optional(list(address, { doc: '' })),
  local_flags: optional(mapOf(boolean({ doc: '' }), { doc: '' })),
  processes: optional(list(text('Path of a running executable.'), { doc: '' })),
  certificates: optional(list(certificate, { doc: '' })),
};
const optionalPeerFacts = optional(object(peerFacts, { doc: '', schema: 'PeerFacts' }));

const session = object(
  {
    peer: objectOfKind('Peer'),
    session: object(
      {
        token: string({ doc: 'Token for the header `Authorization: Peer …`; useless without the key of the peer.' }),
        expires_at: time({ doc: 'Time at which the peer must log in again.' }),
      },
      { doc: '' },
    ),
    server_time: time({ doc: 'Current time of the server.' }),
  },
  { doc: 'The session of a peer.', schema: 'PeerSession' },
);

const exampleFlags = {
  ...{
    quantum_safe_enabled: false,
    quantum_safe_permissive: false,
    server_ssh_allowed: true,
    remote_jobs_allowed: false,
  },
  ...{ disable_client_routes: false, disable_server_routes: false, disable_dns: false, disable_firewall: false },
  ...{ block_lan_access: false, block_inbound: false, lazy_connection_enabled: false },
};

const sessionExample = {
  peer: {
    ...{ id: 'ch8i4ug6lnn4g9hqv7n0', name: 'runner-7', hostname: 'runner-7', user_id: '', ephemeral: false },
    ...{ ip: '100.72.0.12', dns_label: 'runner-7.heddle.internal', extra_dns_labels: [], approval_required: false },
    ...{ ssh_enabled: false, login_expiration_enabled: false, inactivity_expiration_enabled: false },
    ...{ os: 'Linux', kernel_version: '6.12.4', version: '0.60.0', ui_version: '', serial_number: 'C02XJ0AAJGH5' },
    ...{ connection_ip: '203.0.113.7', network_addresses: [{ net_ip: '192.168.1.20/24', mac: '02:00:5e:10:00:01' }] },
    ...{ country_code: 'PT', city_name: 'Lisbon', geoname_id: 2267057, connected: false, login_expired: false },
    ...{ created_at: '2026-12-02T00:00:00.000Z', last_login: '2026-12-02T00:00:00.000Z' },
    ...{ last_seen: '2026-12-02T00:00:00.000Z', groups: [], local_flags: exampleFlags },
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
    access: { open: 'shows no data of any account' },
    tag: agentDeclaration.tag,
    summary: 'Request a challenge for enrolment',
    doc: `${agentDocPrefix} With the answer to the challenge, an enrolling machine proves that it has the key of the tunnel.`,
    answer: object(
      {
        challenge: string({ doc: 'Challenge, to be sent back unchanged.' }),
        public_key: string({ doc: 'X25519 key of the server, used for one minute; base64url.' }),
        server_time: time({ doc: 'Current time of the server.' }),
        expires_at: time({ doc: 'Time at which the challenge expires.' }),
      },
      { doc: 'Challenge that an enrolling machine must answer.', schema: 'Challenge' },
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
    ...agentDeclaration,
    id: 'enrolPeer',
    path: '/agent/enrol',
    access: { open: 'needs a proof by the key of the machine, and a setup key or the token of a user' },
    summary: 'Become a peer',
    doc: `${agentDocPrefix} The machine is admitted by a setup key, or by the user with the token in \`Authorization\`.`,
    uncheckedBody: {
      setup_key: optionalText('Setup key. Absent when a user signs the machine in.'),
      hostname: text('Host name of the machine.'),
      name: optionalText('Display name. Default: the host name.'),
      wg_pub_key: text('The public X25519 key of the tunnel, base64.'),
      tunnel_proof: object(
        {
          challenge: text('From `/agent/challenge`.'),
          mac: text(
            'HMAC-SHA256, base64url, over the lines `heddle-agent-v1`, `tunnel`, the challenge and the signing key, keyed with the shared secret of the tunnel key and the key of the challenge.',
          ),
        },
        { doc: '' },
      ),
      extra_dns_labels: optional(list(text('Additional DNS label; the setup key must allow it.'), { doc: '' })),
      facts: optionalPeerFacts,
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
    ...agentDeclaration,
    id: 'logInPeer',
    path: '/agent/login',
    access: { open: 'needs a proof by the key of the peer' },
    summary: 'Get a session',
    doc: `${agentDocPrefix} A peer with an expired login must send the token of its user in \`Authorization\`.`,
    uncheckedBody: { wg_pub_key: tunnelKey, facts: optionalPeerFacts },
    answer: session,
    noStore: true,
    errors: ['unauthenticated', 'not_allowed', 'not_found'],
    example: { body: { wg_pub_key: key }, answer: sessionExample },
  }),
  reportFacts: defineOperation({
    ...sessionDeclaration,
    id: 'reportFacts',
    method: 'POST',
    path: '/agent/facts',
    summary: 'Report facts about the machine',
    doc: `${agentDocPrefix} Replaces what was reported before. \`Authorization: Peer <session>\`.`,
    uncheckedBody: peerFacts,
    example: {
      body: { system: 'linux', system_version: '13', version: '1.4.2', processes: ['/usr/sbin/sshd'] },
    },
  }),
  reportTraffic: defineOperation({
    ...sessionDeclaration,
    id: 'reportTraffic',
    method: 'POST',
    path: '/agent/traffic',
    summary: 'Report traffic',
    doc: `${agentDocPrefix} Further members of a record are \`source_port\`, \`destination_port\`, \`…_resource_id\`, \`policy_id\`, \`icmp_type\`, \`icmp_code\` and the counters \`rx_bytes\`, \`rx_packets\`, \`tx_bytes\`, \`tx_packets\`. Records are stored only while the account enables it; \`dropped\` contains the reason why none is stored. \`Authorization: Peer <session>\`.`,
    uncheckedBody: {
      batch: string({
        doc: 'Id of the report, unique for the peer. A repeated report is stored only once.',
        maxLength: 100,
      }),
      records: list(
        object(
          {
            flow_id: text('The id of the flow.'),
            window_start: time({ doc: 'Start of the time window.' }),
            window_end: time({ doc: 'End of the time window.' }),
            protocol: optional(integer({ doc: 'IP protocol number.' })),
            direction: optionalText('`INGRESS` or `EGRESS`.'),
            connection_type: optionalText('`P2P` or `ROUTED`.'),
            source_ip: text('Source address.'),
            destination_ip: text('Destination address.'),
            events: list(
              object(
                { type: text('Type of the event, such as `TYPE_START`.'), timestamp: time({ doc: 'When.' }) },
                { doc: '' },
              ),
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
            { index: integer({ doc: 'Its place.' }), reason: string({ doc: 'Reason why the record was refused.' }) },
            { doc: '', schema: 'RefusedItem' },
          ),
          { doc: '' },
        ),
        dropped: optionalText('Reason why nothing of the report was stored.'),
      },
      { doc: 'Result of a traffic report.', schema: 'TrafficReportAnswer' },
    ),
    example: { body: { batch: '17', records: [] }, answer: { refused: [] } },
  }),
};
