/** What can be done in a module. */
export const operations = ['read', 'create', 'update', 'delete'] as const;

/** Rights of a user, by module and operation. */
export type Rights = Readonly<Record<string, Readonly<Record<(typeof operations)[number], boolean>>>>;

/** The parts of the interface that rights are given for. */
export const modules = [
  'accounts',
  'billing',
  'config',
  'dns',
  'edr',
  'event_streaming',
  'events',
  'groups',
  'identity_providers',
  'idp',
  'ingress',
  'msp',
  'nameservers',
  'networks',
  'notifications',
  'pats',
  'peers',
  'policies',
  'proxy',
  'proxy_configuration',
  'remote_jobs',
  'routes',
  'services',
  'settings',
  'setup_keys',
  'tenants',
  'users',
] as const;

/** What a role may do: an owner everything. The other roles get their rights in a later version, and until then none. */
export function rightsOf(role: string): Rights {
  const granted = role === 'owner';
  const rights = { read: granted, create: granted, update: granted, delete: granted };
  return Object.fromEntries(modules.map((module) => [module, rights]));
}
