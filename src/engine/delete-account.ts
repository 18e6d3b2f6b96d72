import { Conflict, NotAllowed, NotFound } from '../model/errors.ts';
import type { AuditEvent } from '../model/kind.ts';
import type { StoredObject } from '../model/object.ts';
import type { Snapshot } from '../model/snapshot.ts';
import { planEdits } from './edits.ts';
import type { Call, Engine } from './engine.ts';
import { refusalOf } from './objects.ts';
import { roleInTenant } from './tenant-scope.ts';
import { accountIn, statusOf, tenantKind } from './tenant-steps.ts';

/**
 * Deletes the account of the call with everything in it. Only its owners may; an account that looks after others lets them
 * go first, and one that is looked after disappears from the list of its keeper, which is told.
 */
export async function deleteAccount(engine: Engine, call: Call, id: string): Promise<void> {
  if (id !== call.account) throw new NotFound(`account ${id} not found`);
  const seen = await engine.snapshots.fresh(id);
  const keeper = keeperOf(seen);
  const committed = await engine.committer.mutateTogether({
    actor: call.actor,
    accounts: [id, ...(keeper === undefined ? [] : [keeper])],
    gone: [id],
    ...(keeper === undefined ? {} : { told: { [keeper]: [deletion(seen)] } }),
    propose: (stateOf) => {
      const state = stateOf(id);
      if (keeperOf(state) !== keeper)
        throw new Conflict('refused', 'the account came to somebody else at the same moment; try again');
      const tenant = keeper === undefined ? undefined : stateOf(keeper).get(id);
      requireOwner(state, call, keeper === undefined ? undefined : { home: stateOf(keeper), tenant });
      requireNoTenants(state);
      if (keeper === undefined || tenant?.kind !== tenantKind) return {};
      return { [keeper]: planEdits(engine, stateOf(keeper), [{ before: tenant }]) };
    },
  });
  if (!committed.ok) throw refusalOf(committed.problems);
  engine.notices.tell({ what: 'gone', account: id });
}

function keeperOf(state: Snapshot): string | undefined {
  const { msp } = accountIn(state).derived;
  return typeof msp === 'string' ? msp : undefined;
}

/** What the keeper of the account is told; in the account itself nobody could read it. */
function deletion(state: Snapshot): AuditEvent {
  const { derived, createdAt } = accountIn(state);
  const meta = { account_id: state.account, domain: String(derived['domain'] ?? ''), created_at: createdAt };
  return { code: 'account.delete', target: state.account, meta };
}

interface Keeping {
  readonly home: Snapshot;
  readonly tenant: StoredObject | undefined;
}

/** Asked on the states that are written: whoever was an owner a moment ago is none. */
function requireOwner(state: Snapshot, { actor, home }: Call, keeping: Keeping | undefined): void {
  const user = home === undefined ? state.get(actor.id) : keeping?.home.get(actor.id);
  const role =
    home === undefined ? user?.spec['role'] : keeping?.tenant && roleInTenant(keeping.home, actor.id, keeping.tenant);
  if (role !== 'owner' || user?.spec['is_blocked'] === true) throw new NotAllowed('only an owner deletes the account');
}

/** Accounts that this one looks after would be nobody's. */
function requireNoTenants(state: Snapshot): void {
  const tenants = state.ofKind(tenantKind).filter((tenant) => ['pending', 'active'].includes(statusOf(tenant)));
  if (tenants.length === 0) return;
  const names = tenants.slice(0, 10).map(({ name }) => name);
  throw new Conflict(
    'in_use',
    `the account looks after ${tenants.length} others (${names.join(', ')}${tenants.length > 10 ? ', …' : ''}); unlink them first`,
  );
}
