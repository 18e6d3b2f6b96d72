import { planEdits } from '../../commit/edits.ts';
import type { Call, Engine } from '../../commit/engine.ts';
import { findRevision } from '../../db/commit/accounts.ts';
import type { AuditEvent } from '../../model/declare/kind.ts';
import { Conflict, NotAllowed, NotFound } from '../../model/errors.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import type { Stored } from '../../model/state/stored.ts';
import { errorForProblems } from '../../objects/objects.ts';
import { isUnprovedTenantAccount, planInviteWithdrawal } from './tenants/removal.ts';
import { roleInTenant } from './tenants/scope.ts';
import { isLinked, requireAccount, statusOf, tenantKind } from './tenants/steps.ts';

/**
 * Deletes the account of the call with everything in it. Only its owners may do so. An account that manages tenants
 * must unlink them first. An account that is managed is also removed from the list of its managing account, which gets
 * an audit event.
 */
export async function deleteAccount(engine: Engine, call: Call, id: string): Promise<void> {
  if (id !== call.account) throw new NotFound(`account ${id} not found`);
  const seen = await engine.snapshots.fresh(id);
  const manager = managingAccountOf(seen);
  const { made, invited } = await findUnlinkedTenants(engine, seen);
  const committed = await engine.committer.mutateTogether({
    actor: call.actor,
    accounts: [...new Set([id, ...(manager === undefined ? [] : [manager]), ...made, ...invited])],
    deletedAccounts: [id, ...made],
    ...(manager === undefined ? {} : { events: { [manager]: [deletion(seen)] } }),
    propose: (stateOf) => {
      const state = stateOf(id);
      if (managingAccountOf(state) !== manager)
        throw new Conflict('refused', 'the managing account changed at the same moment; try again');
      const tenant = manager === undefined ? undefined : stateOf(manager).find(tenantKind, id);
      requireOwner(state, call, manager === undefined ? undefined : { home: stateOf(manager), tenant });
      requireNoTenants(state);
      const pending = state.ofKind(tenantKind).filter((one) => statusOf(one) === 'pending' && made.includes(one.id));
      if (pending.length !== made.length || made.some((one) => !isLinked(stateOf(one), id)))
        throw new Conflict('refused', 'the tenants of the account changed at the same moment; try again');
      const others = Object.assign({}, ...invited.map((one) => planInviteWithdrawal(engine, stateOf(one), id)));
      if (manager === undefined || tenant === undefined) return others;
      return { ...others, [manager]: planEdits(engine, stateOf(manager), [{ before: tenant }]) };
    },
  });
  if (!committed.ok) throw errorForProblems(committed.problems);
  for (const account of [id, ...made]) engine.notices.publish({ what: 'gone', account });
}

/**
 * Returns the accounts that were created for tenants and whose domain was never proved (`made`: they are deleted too),
 * and the accounts that were only invited (`invited`).
 */
async function findUnlinkedTenants(
  engine: Engine,
  state: Snapshot,
): Promise<{ readonly made: readonly string[]; readonly invited: readonly string[] }> {
  const made: string[] = [];
  const invited: string[] = [];
  for (const tenant of state.ofKind(tenantKind)) {
    const status = statusOf(tenant);
    if (status !== 'pending' && status !== 'invited') continue;
    if ((await findRevision(engine.database, tenant.id)) === undefined) continue;
    if (status === 'invited') invited.push(tenant.id);
    else if (isUnprovedTenantAccount(tenant, await engine.snapshots.fresh(tenant.id), state.account))
      made.push(tenant.id);
  }
  return { made, invited };
}

function managingAccountOf(state: Snapshot): string | undefined {
  const { msp } = requireAccount(state).derived;
  return typeof msp === 'string' ? msp : undefined;
}

/** Audit event in the managing account. In the deleted account it could not be read. */
function deletion(state: Snapshot): AuditEvent {
  const { derived, createdAt } = requireAccount(state);
  const meta = { account_id: state.account, domain: derived.domain ?? '', created_at: createdAt };
  return { code: 'account.delete', target: state.account, meta };
}

interface KeeperState {
  readonly home: Snapshot;
  readonly tenant: Stored<typeof tenantKind> | undefined;
}

/**
 * Checked on the states that the commit writes, because a caller who was an owner a moment ago may not be an owner any
 * more.
 */
function requireOwner(state: Snapshot, { actor, home }: Call, keeping: KeeperState | undefined): void {
  const user = home === undefined ? state.find('User', actor.id) : keeping?.home.find('User', actor.id);
  const role =
    home === undefined ? user?.spec.role : keeping?.tenant && roleInTenant(keeping.home, actor.id, keeping.tenant);
  if (role !== 'owner' || user?.spec.is_blocked === true) throw new NotAllowed('only an owner may delete the account');
}

/**
 * Throws while the account manages active tenants, because they would lose their managing account. Tenants with an
 * unproved domain are deleted with the account.
 */
function requireNoTenants(state: Snapshot): void {
  const tenants = state.ofKind(tenantKind).filter((tenant) => statusOf(tenant) === 'active');
  if (tenants.length === 0) return;
  const names = tenants.slice(0, 10).map(({ name }) => name);
  throw new Conflict(
    'in_use',
    `the account manages ${tenants.length} tenants (${names.join(', ')}${tenants.length > 10 ? ', …' : ''}); unlink them first`,
  );
}
