import { maxKeyLifetimeSeconds } from '../../model/declare/setup-key-words.ts';
import { mask } from '../../model/schema/sealing.ts';

interface Named {
  /** Short description of the difference. Each row has a test with this name. */
  readonly name: string;
  /** Clients that need the difference. */
  readonly clients: string;
}

/** A member with another name in the profile. Requests may use either name; answers use `theirs`. */
export interface MemberRow extends Named {
  readonly differs: 'member';
  /** Paths of the specification. `/*` at the end matches the path itself and all paths below it. */
  readonly at: readonly string[];
  readonly ours: string;
  readonly theirs: string;
}

/**
 * A text value of a member that differs in the profile. `prefix`: it is only the beginning of the value. Requests may
 * use either.
 */
export interface WordRow extends Named {
  readonly differs: 'word';
  readonly at: readonly string[];
  readonly member: string;
  readonly ours: string;
  readonly theirs: string;
  readonly prefix?: true;
}

/** A number in answers that is a text in the profile. */
export interface TextRow extends Named {
  readonly differs: 'text';
  readonly at: readonly string[];
  readonly member: string;
}

/** A path that differs in the profile. The path of the specification exists as well. */
export interface PathRow extends Named {
  readonly differs: 'path';
  readonly ours: string;
  readonly theirs: string;
}

/** A member that requests may leave out or set to `null`, and the value that it gets in that case. */
export interface DefaultRow extends Named {
  readonly differs: 'default';
  /** Method and path of each operation, such as `PUT /api/groups/{groupId}`. */
  readonly operations: readonly string[];
  readonly member: string;
  readonly value: string | number;
}

/** An integer in requests that may exceed the limits of the specification: from `min` to `max`. */
export interface LimitRow extends Named {
  readonly differs: 'limit';
  readonly operations: readonly string[];
  readonly member: string;
  readonly min: number;
  readonly max: number;
  /** Meaning of `min`. */
  readonly doc: string;
}

/** An answer that has another status in the profile. `body` is its new body; absent: unchanged. */
export interface StatusRow extends Named {
  readonly differs: 'status';
  readonly operations: readonly string[];
  readonly from: number;
  readonly to: number;
  readonly body?: Readonly<Record<string, never>>;
  /** Beginning of the messages to which the row applies. Absent: it applies to all answers with the status. */
  readonly message?: string;
  /** The row applies to an empty list, when the query has this parameter: there is no object with the given name. */
  readonly none?: { readonly parameter: string; readonly what: string };
}

/** An operation that exists only in this profile. */
export interface ReadRow extends Named {
  readonly differs: 'operation';
  readonly operation: string;
  readonly doc: string;
}

/**
 * A replace that is refused when its list has fewer entries than are stored. Its client knows only one entry, and would
 * drop the others without having read them.
 */
export interface GuardRow extends Named {
  readonly differs: 'guard';
  readonly operations: readonly string[];
  readonly kind: string;
  readonly list: string;
}

export type Row = MemberRow | WordRow | TextRow | PathRow | DefaultRow | LimitRow | StatusRow | ReadRow | GuardRow;

const terraform = 'Terraform';
const go = 'Go';
const dashboard = 'dashboard';
const all = [terraform, go, dashboard].join(', ');

const edr = '/api/integrations/edr';

/** Endpoint security products, as paths of the specification and of the profile name them. */
const vendors = [
  ['vendor-a', 'sentinelone'],
  ['vendor-b', 'intune'],
  ['vendor-c', 'fleetdm'],
  ['vendor-d', 'falcon'],
] as const;

const vendorPaths: readonly PathRow[] = vendors.map(([ours, theirs]) => ({
  name: `the path of ${theirs}`,
  differs: 'path',
  ours: `${edr}/${ours}`,
  theirs: `${edr}/${theirs}`,
  clients: `${go}, ${dashboard}`,
}));

/** Operations that these clients read, and that the specification does not have. */
const extraReads: readonly ReadRow[] = [
  ['the countries', '/api/locations/countries', 'every country of ISO 3166-1'],
  [
    'the cities of a country',
    '/api/locations/countries/{country}/cities',
    'the cities of the location database; 412 without one',
  ],
  ['the identity providers', '/api/identity-providers', 'an empty list: there are none besides those in the settings'],
  ['the version of the server', '/api/instance/version', 'the running release'],
  ['directory sync with Google', '/api/integrations/google-idp', 'an empty list: it is not supported'],
  ['provisioning by Okta', '/api/integrations/okta-scim-idp', 'an empty list: use `/api/integrations/scim-idp`'],
  [
    'peers that endpoint security leaves alone',
    '/api/peers/edr/bypassed',
    'an empty list: there are no such exceptions',
  ],
].map(([name = '', path = '', doc = '']) => ({
  name,
  differs: 'operation',
  operation: `GET ${path}`,
  doc,
  clients: `${terraform}, ${dashboard}`,
}));

/** Secrets of the products. A replace may leave out the secret, and the stored one is kept. */
const keptSecrets: readonly DefaultRow[] = [
  { member: 'api_token', of: ['vendor-a', 'vendor-c'] },
  { member: 'secret', of: ['vendor-b', 'vendor-d'] },
  { member: 'client_id', of: ['vendor-d'] },
].map(({ member, of }) => ({
  name: `the kept ${member} of endpoint security`,
  differs: 'default',
  operations: of.map((vendor) => `PUT ${edr}/${vendor}`),
  member,
  value: mask,
  clients: dashboard,
}));

/**
 * All differences between the client profile and the specification. Only the HTTP layer knows them: translation,
 * description and documentation are derived from this table.
 */
export const rows: readonly Row[] = [
  {
    name: 'the check of client versions',
    differs: 'member',
    at: ['/api/posture-checks/*'],
    ours: 'client_version_check',
    theirs: 'nb_version_check',
    clients: `${terraform}, ${dashboard}`,
  },
  {
    name: 'the reputation mode of services',
    differs: 'member',
    at: ['/api/reverse-proxies/services/*'],
    ours: 'reputation_mode',
    theirs: 'crowdsec_mode',
    clients: `${terraform}, ${dashboard}`,
  },
  {
    name: 'the reputation of clusters',
    differs: 'member',
    at: ['/api/reverse-proxies/clusters/*', '/api/reverse-proxies/domains/*'],
    ours: 'supports_reputation',
    theirs: 'supports_crowdsec',
    clients: `${terraform}, ${dashboard}`,
  },
  {
    name: 'the quantum-safe flag of peers',
    differs: 'member',
    at: ['/api/peers/*', '/agent/*'],
    ours: 'quantum_safe_enabled',
    theirs: 'rosenpass_enabled',
    clients: dashboard,
  },
  {
    name: 'the permissive quantum-safe flag of peers',
    differs: 'member',
    at: ['/api/peers/*', '/agent/*'],
    ours: 'quantum_safe_permissive',
    theirs: 'rosenpass_permissive',
    clients: dashboard,
  },
  {
    name: 'SSH in the rules of policies',
    differs: 'word',
    at: ['/api/policies/*'],
    member: 'protocol',
    ours: 'ssh',
    theirs: 'netbird-ssh',
    clients: `${terraform}, ${dashboard}`,
  },
  {
    name: 'SSH in temporary access',
    differs: 'word',
    at: ['/api/peers/{peerId}/temporary-access'],
    member: 'rules',
    ours: 'ssh/',
    theirs: 'netbird-ssh/',
    prefix: true,
    clients: dashboard,
  },
  { name: 'the ids of setup keys', differs: 'text', at: ['/api/setup-keys/*'], member: 'id', clients: all },
  {
    name: 'the ids of audit events',
    differs: 'text',
    at: ['/api/events', '/api/events/audit'],
    member: 'id',
    clients: `${go}, ${dashboard}`,
  },
  ...vendorPaths,
  {
    name: 'the path of directory sync',
    differs: 'path',
    ours: '/api/integrations/directory-idp',
    theirs: '/api/integrations/azure-idp',
    clients: `${go}, ${dashboard}`,
  },
  ...keptSecrets,
  {
    name: 'the platform of a stream',
    differs: 'default',
    operations: ['PUT /api/event-streaming/{id}', 'PUT /api/integrations/event-streaming/{id}'],
    member: 'platform',
    value: 'unchanged',
    clients: dashboard,
  },
  {
    name: 'setup keys that never expire',
    differs: 'limit',
    operations: ['POST /api/setup-keys'],
    member: 'expires_in',
    min: 0,
    max: maxKeyLifetimeSeconds,
    doc: '0 never expires',
    clients: all,
  },
  {
    name: 'setup keys without a limit of uses',
    differs: 'default',
    operations: ['POST /api/setup-keys'],
    member: 'usage_limit',
    value: 0,
    clients: all,
  },
  {
    name: 'the usual port of a target',
    differs: 'limit',
    operations: ['POST /api/reverse-proxies/services', 'PUT /api/reverse-proxies/services/{serviceId}'],
    member: 'port',
    min: 0,
    max: 65535,
    doc: '0 is the default port of http or https',
    clients: terraform,
  },
  {
    name: 'rules that a client does not know',
    differs: 'guard',
    operations: ['PUT /api/policies/{policyId}'],
    kind: 'Policy',
    list: 'rules',
    clients: `${terraform}, ${dashboard}`,
  },
  {
    name: 'endpoint security without an integration',
    differs: 'status',
    operations: vendors.map(([vendor]) => `GET ${edr}/${vendor}`),
    from: 404,
    to: 200,
    body: {},
    clients: dashboard,
  },
  {
    name: 'the challenge of a tenant that is not met',
    differs: 'status',
    operations: ['POST /api/integrations/msp/tenants/{id}/dns'],
    from: 412,
    to: 501,
    message: 'the TXT record ',
    clients: `${go}, ${dashboard}`,
  },
  {
    name: 'a group that is asked for by name and not there',
    differs: 'status',
    operations: ['GET /api/groups'],
    from: 200,
    to: 404,
    none: { parameter: 'name', what: 'group' },
    clients: `${terraform}, ${go}`,
  },
  ...extraReads,
];
