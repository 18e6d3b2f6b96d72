import { editDerivedFacts, planEdits } from '../../../commit/edits.ts';
import type { Call, Engine } from '../../../commit/engine.ts';
import { Conflict, NotAllowed } from '../../../model/errors.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import type { Stored } from '../../../model/state/stored.ts';
import { errorForProblems, type WriteResult } from '../../../objects/objects.ts';
import { requireRight } from '../../../plan/checks/authorize.ts';
import type { Edit } from '../../../plan/finish.ts';
import {
  activeDerivedValues,
  commitAcrossAccounts,
  isLinked,
  planTenantUpdate,
  requireAccount,
  requireHomeOwner,
  requireStatus,
  requireTenant,
  statusOf,
  tenantKind,
} from './steps.ts';

/** Invites the existing account of the tenant's domain to become a tenant. */
export async function inviteTenant(engine: Engine, call: Call, id: string): Promise<WriteResult> {
  const seen = requireTenant(await engine.snapshots.atLeast(call.account, call.revision), id);
  const state = await commitAcrossAccounts(engine, call, {
    accounts: [call.account, id],
    propose: (stateOf) => {
      requireRight(stateOf(call.account), call.actor, 'msp', 'update');
      const tenant = requireTenant(stateOf(call.account), id);
      if (statusOf(tenant) === 'invited') return { [call.account]: planEdits(engine, stateOf(call.account), []) };
      requireStatus(tenant, ['existing'], 'only an account that exists already can be invited');
      const account = requireAccount(stateOf(id));
      if (account.derived.msp !== undefined || account.derived.msp_invite !== undefined)
        throw new Conflict(
          'precondition',
          `the account of ${seen.name} is a tenant of another account, or is invited to become one`,
        );
      return {
        [call.account]: planTenantUpdate(engine, stateOf(call.account), tenant, {
          status: 'invited',
          invited_at: engine.now(),
        }),
        [id]: planEdits(engine, stateOf(id), [editDerivedFacts(engine, account, { msp_invite: call.account })]),
      };
    },
  });
  return { object: requireTenant(state, id), state, ignored: [], outputs: {} };
}

/** Accepts or declines the invitation to become a tenant, for the owner of the invited account. */
export async function answerInvite(engine: Engine, call: Call, id: string, isAccepted: boolean): Promise<void> {
  const state = await engine.snapshots.atLeast(call.account, call.revision);
  if (call.account !== id) {
    requireTenant(state, id);
    throw new NotAllowed('only the owner of the invited account may answer the invitation');
  }
  requireLocalOwner(state, call);
  const inviter = inviterOf(state);
  await commitAcrossAccounts(engine, call, {
    accounts: [id, inviter],
    propose: (stateOf) => {
      requireLocalOwner(stateOf(id), call);
      const tenant = stateOf(inviter).find(tenantKind, id);
      if (inviterOf(stateOf(id)) !== inviter || tenant === undefined || statusOf(tenant) !== 'invited')
        throw uninvited();
      const answer = isAccepted ? activeDerivedValues(engine) : { status: 'existing' };
      const account = { msp_invite: undefined, ...(isAccepted ? { msp: inviter } : {}) };
      return {
        [inviter]: planTenantUpdate(engine, stateOf(inviter), tenant, answer),
        [id]: planEdits(engine, stateOf(id), [editDerivedFacts(engine, requireAccount(stateOf(id)), account)]),
      };
    },
  });
}

/**
 * Throws unless the caller is an owner who is a user of the account itself: a managing account cannot choose who
 * manages the account.
 */
function requireLocalOwner(state: Snapshot, { actor }: Call): void {
  const user = state.find('User', actor.id);
  if (user?.spec.role === 'owner' && user.spec.is_blocked !== true) return;
  throw new NotAllowed('only the owner of the account may answer the invitation');
}

function inviterOf(state: Snapshot): string {
  const inviter = requireAccount(state).derived.msp_invite;
  if (typeof inviter !== 'string') throw uninvited();
  return inviter;
}

function uninvited(): Conflict {
  return new Conflict('precondition', 'the account is not invited to be a tenant');
}

/**
 * Gives the account of a tenant to one of its users and ends the link. Only owners of the managing account may do so.
 */
export async function unlinkTenant(engine: Engine, call: Call, id: string, owner: string): Promise<void> {
  const seen = requireTenant(await engine.snapshots.atLeast(call.account, call.revision), id);
  requireStatus(seen, ['pending', 'active'], 'its account is not linked to this one');
  await commitAcrossAccounts(engine, call, {
    accounts: [call.account, id],
    propose: (stateOf) => {
      requireRight(stateOf(call.account), call.actor, 'msp', 'update');
      requireHomeOwner(stateOf(call.account), call);
      const tenant = requireTenant(stateOf(call.account), id);
      requireStatus(tenant, ['pending', 'active'], 'its account is not linked to this one');
      // The account itself must name its managing account: a link on the side of the managing account alone gives no
      // right to appoint an owner there.
      if (!isLinked(stateOf(id), call.account))
        throw new Conflict(
          'precondition',
          `the account of ${tenant.name} is not linked to this one; remove the tenant`,
        );
      const account = editDerivedFacts(engine, requireAccount(stateOf(id)), { msp: undefined });
      return {
        [call.account]: planEdits(engine, stateOf(call.account), [{ before: tenant }]),
        [id]: planEdits(engine, stateOf(id), [account, ...transferOwnership(engine, stateOf(id), owner)]),
      };
    },
  });
}

/** Makes a user of the account its owner. Deletes the machine owner, and makes other owners admins. */
function transferOwnership(engine: Engine, state: Snapshot, owner: string): readonly Edit[] {
  const users = state.ofKind('User');
  const user = users.find(({ id }) => id === owner);
  if (user === undefined || user.derived.system === 'owner' || user.spec.is_service_user === true)
    throw refuseOwner(`\`${owner}\` is not a person of the account of the tenant; give the id of one of its users`);
  if (user.spec.is_blocked === true) throw refuseOwner(`${user.name} is blocked and cannot be the owner`);
  const owners = users.filter(({ id, spec }) => id !== owner && spec.role === 'owner');
  return [
    withRole(engine, user, 'owner'),
    ...owners.map(
      (former): Edit =>
        former.derived.system === 'owner' ? { before: former, internal: true } : withRole(engine, former, 'admin'),
    ),
  ];
}

function refuseOwner(message: string): Error {
  return errorForProblems([{ code: 'tenant_owner_invalid', kind: tenantKind, path: '/owner', message }]);
}

function withRole(engine: Engine, user: Stored<'User'>, role: string): Edit {
  if (user.spec.role === role) return { before: user, after: user };
  const after = { ...user, spec: { ...user.spec, role }, updatedAt: engine.now() };
  return { before: user, after, internal: true };
}
