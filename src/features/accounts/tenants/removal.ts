import { editDerivedFacts, planEdits } from '../../../commit/edits.ts';
import type { Call, Engine } from '../../../commit/engine.ts';
import { findRevision } from '../../../db/commit/accounts.ts';
import { Conflict } from '../../../model/errors.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import type { Stored } from '../../../model/state/stored.ts';
import { requireRight } from '../../../plan/checks/authorize.ts';
import type { PlanOutcome } from '../../../plan/plan.ts';
import { commitAcrossAccounts, isLinked, requireAccount, requireHomeOwner, requireTenant, statusOf } from './steps.ts';

/**
 * Removes a tenant that is not active. Deletes the account of a tenant whose domain was never proved, with everything
 * in it. An account that existed before is kept, and its invitation is withdrawn. Throws `Conflict` for an active
 * tenant, which must be unlinked instead.
 */
export async function removeTenant(engine: Engine, call: Call, id: string): Promise<void> {
  const seen = requireTenant(await engine.snapshots.atLeast(call.account, call.revision), id);
  const isThere = (await findRevision(engine.database, id)) !== undefined;
  const goes = isThere && isUnprovedTenantAccount(seen, await engine.snapshots.fresh(id), call.account);
  await commitAcrossAccounts(engine, call, {
    accounts: [call.account, ...(isThere ? [id] : [])],
    deletedAccounts: goes ? [id] : [],
    propose: (stateOf) => {
      const home = stateOf(call.account);
      requireRight(home, call.actor, 'msp', 'delete');
      const tenant = requireTenant(home, id);
      requireInactive(tenant);
      const mine: Record<string, PlanOutcome> = { [call.account]: planEdits(engine, home, [{ before: tenant }]) };
      if (!isThere) return mine;
      if (isUnprovedTenantAccount(tenant, stateOf(id), call.account) !== goes) throw tenantChangedError();
      if (goes) requireHomeOwner(home, call);
      return goes ? mine : { ...mine, ...planInviteWithdrawal(engine, stateOf(id), call.account) };
    },
  });
  if (goes) engine.notices.publish({ what: 'gone', account: id });
}

/** Returns whether the account of a tenant was created with the tenant and its domain was never proved. */
export function isUnprovedTenantAccount(tenant: Stored<'MSPTenant'>, account: Snapshot, manager: string): boolean {
  return statusOf(tenant) === 'pending' && isLinked(account, manager);
}

/**
 * Plans the removal of an invitation by a managing account from an account. Returns no plan when the account has no
 * invitation of that account.
 */
export function planInviteWithdrawal(
  engine: Engine,
  state: Snapshot,
  manager: string,
): Readonly<Record<string, PlanOutcome>> {
  const account = requireAccount(state);
  if (account.derived.msp_invite !== manager) return {};
  return { [state.account]: planEdits(engine, state, [editDerivedFacts(engine, account, { msp_invite: undefined })]) };
}

function requireInactive(tenant: Stored<'MSPTenant'>): void {
  if (statusOf(tenant) !== 'active') return;
  throw new Conflict(
    'precondition',
    `the tenant ${tenant.name} is active; give its account to one of its users first (POST …/tenants/${tenant.id}/unlink)`,
  );
}

function tenantChangedError(): Conflict {
  return new Conflict('refused', 'the tenant changed at the same moment; read it again');
}
