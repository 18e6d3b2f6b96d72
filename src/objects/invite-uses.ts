import { readInvitedEmails } from '../db/accounts/invites.ts';
import type { AccountAccess } from '../db/database.ts';
import type { Snapshot } from '../model/state/snapshot.ts';
import { type PlanOutcome, subjectOf } from '../plan/plan.ts';

/** Uses of objects by entities that are not objects, such as invites. By id of the used object, as text for people. */
export type OtherUses = ReadonlyMap<string, readonly string[]>;

/**
 * Plans, and plans again when the plan deletes objects that pending invites name. The invites then prevent the
 * deletion, and are listed like every other use. Only a plan that deletes such objects costs a query.
 */
export async function planWithInvites(
  database: AccountAccess,
  before: Snapshot,
  plan: (alsoUsedBy?: OtherUses) => Promise<PlanOutcome>,
): Promise<PlanOutcome> {
  const first = await plan();
  if (!first.ok) return first;
  const leaving = first.plan.changes
    .filter((change) => change.action === 'delete')
    .map(subjectOf)
    .filter(({ kind }) => before.registry.get(kind).namedByInvites === true)
    .map(({ id }) => id);
  const used = await usedByInvites(database, before.account, leaving);
  return used.size === 0 ? first : await plan(used);
}

/** Returns the pending invites that name these objects, by id of the object. */
export async function usedByInvites(
  database: AccountAccess,
  account: string,
  ids: readonly string[],
): Promise<OtherUses> {
  if (ids.length === 0) return new Map();
  const invited = await readInvitedEmails(database, account, ids);
  return new Map([...invited].map(([id, emails]) => [id, emails.map((email) => `invite: ${email}`)]));
}
