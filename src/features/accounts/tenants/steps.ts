import type { Outcomes, SharedMutation } from '../../../commit/commit-together.ts';
import { type Derived, editDerivedFacts, planEdits } from '../../../commit/edits.ts';
import type { Call, Engine } from '../../../commit/engine.ts';
import type { TenantStatus } from '../../../model/declare/tenant-words.ts';
import { Conflict, NotAllowed, NotFound } from '../../../model/errors.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import type { Stored } from '../../../model/state/stored.ts';
import { checkRequestTests } from '../../../objects/access-tests.ts';
import { errorForProblems } from '../../../objects/objects.ts';
import type { PlanOutcome } from '../../../plan/plan.ts';

/** Kind of the objects by which an account lists its tenants. */
export const tenantKind = 'MSPTenant';

/** Kind of the directory entries that map an e-mail domain to its account. */
export const domainEntryKind = 'domain';

/**
 * Writes the changes of all accounts or none. Writes none when they break an enforced access test of one of the
 * accounts. Returns the state of the caller's account afterwards.
 */
export async function commitAcrossAccounts(
  engine: Engine,
  { account, actor, requestId }: Call,
  mutation: Omit<SharedMutation, 'actor'>,
  taken = '',
): Promise<Snapshot> {
  const committed = await engine.committer.mutateTogether({
    ...mutation,
    actor,
    propose: async (stateOf) => checkOutcomeTests(engine, stateOf, await mutation.propose(stateOf)),
    ...(requestId === undefined ? {} : { requestId }),
  });
  if (committed.ok) return committed.after.get(account) ?? (await engine.snapshots.current(account));
  if (committed.why === undefined) throw errorForProblems(committed.problems);
  throw new Conflict(committed.why === 'taken' ? 'taken' : 'gone', taken);
}

async function checkOutcomeTests(
  engine: Engine,
  stateOf: (account: string) => Snapshot,
  outcomes: Outcomes,
): Promise<Outcomes> {
  const entries = Object.entries(outcomes).map(
    async ([account, outcome]) => [account, await checkRequestTests(engine, stateOf(account), outcome)] as const,
  );
  return Object.fromEntries(await Promise.all(entries));
}

/** Plans new derived values of a tenant in the account of its managing account. */
export function planTenantUpdate(
  engine: Engine,
  state: Snapshot,
  tenant: Stored<'MSPTenant'>,
  derived: Derived,
): PlanOutcome {
  return planEdits(engine, state, [editDerivedFacts(engine, tenant, derived)]);
}

/** Returns the derived values of a tenant that becomes active now. */
export function activeDerivedValues(engine: Engine): Derived {
  return { status: 'active', activated_at: engine.now() };
}

/** Returns the object of the account itself. Throws `NotFound`. */
export function requireAccount(state: Snapshot): Stored<'Account'> {
  const account = state.find('Account', state.account);
  if (account === undefined) throw new NotFound(`account ${state.account} not found`);
  return account;
}

/**
 * Returns whether an account names this account as its managing account. The own record of the managing account is only
 * a claim.
 */
export function isLinked(state: Snapshot, manager: string): boolean {
  return requireAccount(state).derived.msp === manager;
}

/** Throws `NotAllowed` unless the caller is an owner of the account that keeps the tenants. */
export function requireHomeOwner(home: Snapshot, { actor }: Pick<Call, 'actor'>): void {
  const user = home.find('User', actor.id);
  const role = actor.granted ?? user?.spec.role;
  if (actor.type === 'user' && role === 'owner' && user?.spec.is_blocked !== true) return;
  throw new NotAllowed('only an owner may give the account of a tenant to one of its users');
}

/** Returns a tenant by id. Throws `NotFound`. */
export function requireTenant(state: Snapshot, id: string): Stored<'MSPTenant'> {
  const tenant = state.find(tenantKind, id);
  if (tenant === undefined) throw new NotFound(`tenant ${id} not found`);
  return tenant;
}

/** Returns the status of a tenant. */
export function statusOf(tenant: Stored<'MSPTenant'>): TenantStatus | undefined {
  return tenant.derived.status;
}

/** Throws `Conflict` unless the tenant has one of the statuses. */
export function requireStatus(tenant: Stored<'MSPTenant'>, statuses: readonly TenantStatus[], why: string): void {
  if (statuses.some((status) => status === statusOf(tenant))) return;
  throw new Conflict('precondition', `the tenant ${tenant.name} is ${statusOf(tenant)}: ${why}`);
}
