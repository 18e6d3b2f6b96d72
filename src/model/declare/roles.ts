import { keysOf } from '../../lib/json.ts';
/** Roles of a user in an account, most powerful first. */
export const roles = ['owner', 'admin', 'network_admin', 'auditor', 'billing_admin', 'user'] as const;

export type Role = (typeof roles)[number];

/** Operations on a module. */
export const operations = ['read', 'create', 'update', 'delete'] as const;

export type Operation = (typeof operations)[number];

/** Rights of a user, by module and operation. */
export type Rights = Readonly<Record<string, Readonly<Record<Operation, boolean>>>>;

/** A user whose rights are checked. Service users may read everything, whatever their role. */
export interface Subject {
  readonly role: string;
  readonly isServiceUser: boolean;
}

/** Cell of the matrix: the letters of the allowed operations. */
type Cell = 'CRUD' | 'R' | '-';

/**
 * Rights by module, in the order `admin`, `network_admin`, `auditor`, `billing_admin`. An owner may do everything. A
 * `user` may only access their own profile, tokens and, as far as the account shows them, peers.
 */
export const matrix = {
  accounts: ['R', 'R', 'R', 'R'],
  settings: ['CRUD', 'R', 'R', 'R'],
  users: ['CRUD', 'R', 'R', '-'],
  pats: ['CRUD', 'CRUD', 'R', '-'],
  peers: ['CRUD', 'R', 'R', '-'],
  remote_jobs: ['CRUD', '-', 'R', '-'],
  setup_keys: ['CRUD', 'R', 'R', '-'],
  groups: ['CRUD', 'CRUD', 'R', '-'],
  policies: ['CRUD', 'CRUD', 'R', '-'],
  routes: ['CRUD', 'CRUD', 'R', '-'],
  networks: ['CRUD', 'CRUD', 'R', '-'],
  dns: ['CRUD', 'CRUD', 'R', '-'],
  nameservers: ['CRUD', 'CRUD', 'R', '-'],
  identity_providers: ['CRUD', 'R', 'R', '-'],
  events: ['CRUD', 'R', 'R', '-'],
  services: ['CRUD', '-', 'R', '-'],
  config: ['CRUD', 'R', 'R', '-'],
  edr: ['CRUD', '-', 'R', '-'],
  idp: ['CRUD', '-', 'R', '-'],
  event_streaming: ['CRUD', '-', 'R', '-'],
  notifications: ['CRUD', '-', 'R', '-'],
  msp: ['CRUD', '-', 'R', '-'],
  ingress: ['CRUD', 'CRUD', 'R', '-'],
  tenants: ['CRUD', '-', 'R', '-'],
  billing: ['CRUD', '-', 'R', 'CRUD'],
  proxy: ['CRUD', '-', 'R', '-'],
  proxy_configuration: ['CRUD', '-', 'R', '-'],
} as const satisfies Readonly<Record<string, readonly [Cell, Cell, Cell, Cell]>>;

/** A part of the API for which rights are granted. */
export type Module = keyof typeof matrix;

/** Modules, in the order of the matrix. */
export const modules = keysOf(matrix);

const columns: readonly string[] = ['admin', 'network_admin', 'auditor', 'billing_admin'];

/** Returns the operations that a role may perform in a module, as letters: `CRUD`, `R` or `-`. */
export function cellOf(role: string, module: string): Cell {
  if (role === 'owner') return 'CRUD';
  // In a module that is not in the matrix, admins may do everything and auditors may read.
  const row = (matrix as Readonly<Record<string, readonly Cell[]>>)[module] ?? ['CRUD', '-', 'R', '-'];
  return row[columns.indexOf(role)] ?? '-';
}

/** Checks whether a subject may perform an operation in a module. */
export function mayPerform({ role, isServiceUser }: Subject, module: string, operation: Operation): boolean {
  if (isServiceUser && operation === 'read') return true;
  const cell = cellOf(role, module);
  return cell === 'CRUD' || (cell === 'R' && operation === 'read');
}

/** Returns all rights of a subject. */
export function rightsOf(subject: Subject): Rights {
  const right = (module: string, operation: Operation) => mayPerform(subject, module, operation);
  return Object.fromEntries(
    modules.map((module) => [
      module,
      {
        read: right(module, 'read'),
        create: right(module, 'create'),
        update: right(module, 'update'),
        delete: right(module, 'delete'),
      },
    ]),
  );
}
