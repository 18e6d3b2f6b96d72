import { Conflict, NotAllowed, NotFound } from '../model/errors.ts';
import type { AuditEvent } from '../model/kind.ts';
import type { Snapshot } from '../model/snapshot.ts';
import { planEdits } from './edits.ts';
import type { Call, Engine } from './engine.ts';
import { refusalOf } from './objects.ts';
import { accountIn, statusOf, tenantKind } from './tenant-steps.ts';

/**
 * Deletes the account of the call with everything in it. Only its owners may; an account that looks after others lets them
 * go first, and one that is looked after disappears from the list of its keeper, which is told.
 */
export async function deleteAccount(engine: Engine, call: Call, id: string): Promise<void> {
  if (id !== call.account) throw new NotFound(`account ${id} not found`);
  const seen = await engine.snapshots.fresh(id);
  requireOwner(seen, call);
  requireNoTenants(seen);
  const keeper = accountIn(seen).derived['msp'];
  const committed = await engine.committer.mutateTogether({
    actor: call.actor,
    accounts: [id, ...(typeof keeper === 'string' ? [keeper] : [])],
    gone: [id],
    ...(typeof keeper === 'string' ? { told: { [keeper]: [deletion(seen)] } } : {}),
    propose: (stateOf) => {
      requireNoTenants(stateOf(id));
      const tenant = typeof keeper === 'string' ? stateOf(keeper).get(id) : undefined;
      if (typeof keeper !== 'string' || tenant?.kind !== tenantKind) return {};
      return { [keeper]: planEdits(engine, stateOf(keeper), [{ before: tenant }]) };
    },
  });
  if (!committed.ok) throw refusalOf(committed.problems);
  engine.notices.tell({ what: 'gone', account: id });
}

/** What the keeper of the account is told; in the account itself nobody could read it. */
function deletion(state: Snapshot): AuditEvent {
  const { derived, createdAt } = accountIn(state);
  const meta = { account_id: state.account, domain: String(derived['domain'] ?? ''), created_at: createdAt };
  return { code: 'account.delete', target: state.account, meta };
}

function requireOwner(state: Snapshot, { actor }: Call): void {
  const role = actor.granted ?? state.get(actor.id)?.spec['role'];
  if (role !== 'owner') throw new NotAllowed('only an owner deletes the account');
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
