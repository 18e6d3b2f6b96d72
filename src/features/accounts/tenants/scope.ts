import type { Call, Engine } from '../../../commit/engine.ts';
import { findRevision } from '../../../db/commit/accounts.ts';
import { type Role, roles } from '../../../model/declare/roles.ts';
import { NotAllowed } from '../../../model/errors.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import type { Stored } from '../../../model/state/stored.ts';
import { requireAccount, statusOf, tenantKind } from './steps.ts';

/**
 * Returns the call as a call in the account of a tenant. The caller's role there is the highest role of the tenant's
 * groups that are among the caller's auto groups. Throws `NotAllowed`, with the same message whether the account exists
 * or not.
 */
export async function enterTenant(engine: Engine, call: Call, account: string): Promise<Call> {
  const home = await engine.snapshots.atLeast(call.account, call.revision);
  const tenant = home.find(tenantKind, account);
  const role = tenant === undefined ? undefined : roleInTenant(home, call.actor.id, tenant);
  const revision = role === undefined ? undefined : await findRevision(engine.database, account);
  if (role === undefined || revision === undefined) throw refused(account);
  const state = await engine.snapshots.atLeast(account, revision);
  // The record of the managing account is not enough: the account itself must name its managing account.
  if (requireAccount(state).derived.msp !== call.account) throw refused(account);
  const actor = { ...call.actor, granted: role };
  return { ...call, account, revision, actor, home: { account: call.account, revision: call.revision } };
}

/**
 * Returns the role of a user of the managing account in the account of a tenant; `undefined` when the user has none.
 */
export function roleInTenant(home: Snapshot, user: string, tenant: Stored<'MSPTenant'>): Role | undefined {
  const status = statusOf(tenant);
  if (status !== 'pending' && status !== 'active') return undefined;
  const own = home.find('User', user)?.spec.auto_groups ?? [];
  const given = (tenant.spec.groups ?? []).filter(({ id }) => id !== undefined && own.includes(id));
  return roles.find((role) => given.some((group) => group.role === role));
}

function refused(account: string): NotAllowed {
  return new NotAllowed(`the account ${account.slice(0, 100)} is neither yours nor one of your tenants`);
}
