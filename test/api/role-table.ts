import { areas } from '../../src/api/area-routes.ts';
import type { Kind } from '../../src/model/declare/kind.ts';
import type { Registry } from '../../src/model/declare/registry.ts';
import { mayPerform, type Operation, roles } from '../../src/model/declare/roles.ts';
import type { Operation as Declared } from '../../src/model/operation/operation.ts';

/**
 * Callers of the table: every role as a person, every role except owner as a service user, and an owner with a
 * plan-only token.
 */
export const askers = [
  ...roles.map((role) => ({ name: role, role, isServiceUser: false, planOnly: false })),
  ...roles
    .filter((role) => role !== 'owner')
    .map((role) => ({ name: `${role} (service)`, role, isServiceUser: true, planOnly: false })),
  { name: 'owner, plan-only', role: 'owner', isServiceUser: false, planOnly: true },
];

export type Asker = (typeof askers)[number];

/** Entry of the table for one caller and one operation. `own`: only the caller's own objects. */
export type Mark = 'yes' | 'own' | 'no';

/**
 * What an operation requires: a right; `operator`: no user of any account may call it; `anyone`: it concerns the
 * callers themselves; `other`: it accepts other credentials than an account's.
 */
type Expectation =
  | { readonly module: string; readonly operation: Operation; readonly own?: true }
  | 'anyone'
  | 'other'
  | 'operator';

/**
 * Requirements that the operations of the interface place on their callers, as the operations and the kinds declare
 * them.
 */
export interface RoleTable {
  /**
   * Returns whether this caller may call the operation. `undefined`: the operation does not accept credentials of an
   * account.
   */
  expected(name: string, asker: Asker): Mark | undefined;
}

/**
 * Creates the table from the declarations. Tests check that the server follows the table, and `roles.md` lists it.
 */
export function createRoleTable(registry: Registry): RoleTable {
  const operations = areas.flatMap((area) => area.operations);
  const declared = new Map(operations.map((operation) => [`${operation.method} ${operation.path}`, operation]));
  const modules = new Map(registry.kinds.flatMap((kind) => pathsOf(kind).map((path) => [path, kind] as const)));

  const expectationOf = (name: string): Expectation => {
    const operation = declared.get(name);
    if (operation !== undefined) return expectationBy(operation);
    const [method = '', path = ''] = name.split(' ');
    const kind = modules.get(path) ?? modules.get(path.replace(/\/\{\w+\}$/, ''));
    if (kind === undefined) throw new Error(`nothing declares who may ${name}`);
    return expectationByKind(kind, method);
  };

  return {
    expected(name, asker) {
      const expectation = expectationOf(name);
      if (expectation === 'other') return undefined;
      if (expectation === 'operator') return 'no';
      const plans = declared.get(name)?.plans === true;
      // A plan-only token may make every GET request for which the right to read is enough.
      const isRead = name.startsWith('GET ') && (expectation === 'anyone' || expectation.operation === 'read');
      if (asker.planOnly && !isRead && !plans) return 'no';
      if (expectation === 'anyone' || mayPerform(asker, expectation.module, expectation.operation)) return 'yes';
      return expectation.own === true ? 'own' : 'no';
    },
  };
}

function expectationBy({ access }: Declared): Expectation {
  return typeof access === 'object' && 'open' in access ? 'other' : access;
}

function pathsOf({ path, aliasPaths = [], listPath }: Kind): readonly string[] {
  return [path, ...aliasPaths, listPath].filter((one) => one !== undefined);
}

const byMethod: Readonly<Record<string, Operation>> = { GET: 'read', POST: 'create', PUT: 'update', DELETE: 'delete' };

function expectationByKind({ module, isOwn }: Kind, method: string): Expectation {
  const operation = byMethod[method];
  if (operation === undefined) throw new Error(`kinds have no ${method}`);
  return { module, operation, ...(operation === 'read' && isOwn !== undefined ? { own: true } : {}) };
}
