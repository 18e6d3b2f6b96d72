import { may, type Operation, roles } from '../../src/model/declare/roles.ts';

/** Who asks in the table: every role as a person, and service users of the roles that they may have. */
export const askers = [
  ...roles.map((role) => ({ name: role, role, isServiceUser: false, planOnly: false })),
  ...roles
    .filter((role) => role !== 'owner')
    .map((role) => ({ name: `${role} (service)`, role, isServiceUser: true, planOnly: false })),
  { name: 'owner, plan-only', role: 'owner', isServiceUser: false, planOnly: true },
];

export type Asker = (typeof askers)[number];

/** What the table says of one asker and one operation. `own`: only what is theirs. */
export type Mark = 'yes' | 'own' | 'no';

/** A right, `operator` for what no user of any account may, `anyone` for what is about the callers themselves, or `other` where other credentials count than an account's. */
type Wanted =
  | { readonly module: string; readonly operation: Operation; readonly own?: true }
  | 'anyone'
  | 'other'
  | 'operator';

/** The modules of paths as the specification and the wire facts give them; the first that fits counts. */
const modules: readonly (readonly [start: string, module: string])[] = [
  ['/api/config', 'config'],
  ['/api/accounts', 'settings'],
  ['/api/dns/nameservers', 'nameservers'],
  ['/api/dns', 'dns'],
  ['/api/event-streaming', 'event_streaming'],
  ['/api/integrations/event-streaming', 'event_streaming'],
  ['/api/integrations/directory-idp', 'idp'],
  ['/api/integrations/scim-idp', 'idp'],
  ['/api/integrations/edr', 'edr'],
  ['/api/integrations/msp', 'msp'],
  ['/api/integrations/notifications', 'notifications'],
  ['/api/events/proxy', 'services'],
  ['/api/events', 'events'],
  ['/api/groups', 'groups'],
  ['/api/ingress', 'ingress'],
  ['/api/peers/{peerId}/ingress', 'ingress'],
  ['/api/networks', 'networks'],
  ['/api/peers', 'peers'],
  ['/api/policies', 'policies'],
  ['/api/posture-checks', 'policies'],
  ['/api/reverse-proxies', 'services'],
  ['/api/routes', 'routes'],
  ['/api/setup-keys', 'setup_keys'],
  ['/api/users', 'users'],
  ['/docs', 'config'],
  ['/api/openapi.json', 'config'],
];

const read = { operation: 'read' } as const;
const update = { operation: 'update' } as const;

/** What a path alone does not say. */
const exceptions: Readonly<Record<string, Wanted>> = {
  // What only compares and tells is reading, whatever its method.
  'POST /api/config/validate': { module: 'config', ...read },
  'POST /api/config/plans': { module: 'config', ...read },
  'POST /api/config/tests': { module: 'config', ...read },
  'POST /api/config/revisions/{revision}/rollback': { module: 'config', ...read },
  'GET /api/config/plans/{id}/outputs': { module: 'config', ...update },
  // A whole account with its secrets, or in place of another.
  'GET /api/config/backup': { module: 'accounts', operation: 'delete' },
  'POST /api/config/restore': { module: 'accounts', operation: 'delete' },
  'DELETE /api/accounts/{accountId}': { module: 'accounts', operation: 'delete' },
  'GET /api/config/schemas/{kind}': 'anyone',
  // What is done with an integration changes it; a subscription is paid for.
  'POST /api/integrations/msp/tenants/{id}/dns': { module: 'msp', ...update },
  'POST /api/integrations/msp/tenants/{id}/subscription': { module: 'billing', ...update },
  'PUT /api/integrations/msp/tenants/{id}/invite': 'anyone',
  'POST /api/integrations/directory-idp/{id}/sync': { module: 'idp', ...update },
  'POST /api/integrations/scim-idp/{id}/token': { module: 'idp', ...update },
  'GET /api/peers': { module: 'peers', ...read, own: true },
  'GET /api/peers/{peerId}': { module: 'peers', ...read, own: true },
  'GET /api/peers/{peerId}/accessible-peers': { module: 'peers', ...read, own: true },
  'GET /api/users': { module: 'users', ...read, own: true },
  'GET /api/users/current': 'anyone',
  'GET /api/users/{userId}/tokens': 'anyone',
  'POST /api/users/{userId}/tokens': 'anyone',
  'GET /api/users/{userId}/tokens/{tokenId}': 'anyone',
  'DELETE /api/users/{userId}/tokens/{tokenId}': 'anyone',
  'POST /api/users/{userId}/approve': { module: 'users', ...update },
  'PUT /api/users/{userId}/password': 'anyone',
  'POST /api/users/invites/{inviteId}/regenerate': { module: 'users', ...update },
  'GET /api/users/invites/{token}': 'other',
  'POST /api/users/invites/{token}/accept': 'other',
  'GET /invite/{token}': 'other',
  'GET /metrics': 'operator',
  'POST /api/config/secrets/rotate': 'operator',
  'POST /api/config/idp/rotate': 'operator',
  'GET /api/instance': 'other',
  'POST /api/setup': 'other',
  'GET /healthz': 'other',
  'GET /readyz': 'other',
  'POST /api/config/sources/{name}/webhook': 'other',
};

/** What is read, but not by who only plans: a whole account, and values that are shown once. */
const withheld: readonly string[] = ['GET /api/config/plans/{id}/outputs', 'GET /api/config/backup'];

/** What writes nothing but plans. */
const planning: readonly string[] = [
  'POST /api/config/validate',
  'POST /api/config/plans',
  'POST /api/config/tests',
  'POST /api/config/revisions/{revision}/rollback',
];

const byMethod: Readonly<Record<string, Operation>> = { GET: 'read', POST: 'create', PUT: 'update', DELETE: 'delete' };

/** What an operation wants of its caller, by the rules above; throws for one that no rule knows. */
function wantedOf(name: string): Wanted {
  const exception = exceptions[name];
  if (exception !== undefined) return exception;
  const [method = '', path = ''] = name.split(' ');
  // Agents prove who they are by their keys, reverse proxies by tokens of their own.
  if (path.startsWith('/agent/') || path.startsWith('/proxy/')) return 'other';
  const module = modules.find(([start]) => path === start || path.startsWith(`${start}/`))?.[1];
  const operation = byMethod[method];
  if (module === undefined || operation === undefined) throw new Error(`no rule says who may ${name}`);
  // A role that may not change the configuration as a whole only reads it.
  return { module, operation: module === 'config' && operation === 'create' ? 'update' : operation };
}

/** What the matrix says: may this asker do this? `undefined`: the account's credentials do not count here. */
export function expected(name: string, asker: Asker): Mark | undefined {
  const wanted = wantedOf(name);
  if (wanted === 'other') return undefined;
  if (wanted === 'operator') return 'no';
  const isReading = (name.startsWith('GET ') && !withheld.includes(name)) || planning.includes(name);
  if (asker.planOnly && !isReading) return 'no';
  if (wanted === 'anyone') return 'yes';
  if (may(asker, wanted.module, wanted.operation)) return 'yes';
  return wanted.own === true ? 'own' : 'no';
}
