import type { Engine } from '../../../commit/engine.ts';
import { type Mirror, readMirror } from '../../../db/directory-sync/mirror.ts';
import type { HeldSync } from '../../../db/directory-sync/progress.ts';
import type { Lease } from '../../../db/leases/leases.ts';
import type { Json } from '../../../lib/json.ts';
import type { ProvidedUser, ProvisioningChange } from '../provisioning/change.ts';
import { type ProvisioningResult, provision } from '../provisioning/provision.ts';

/** Result of applying a directory, with the number of users and groups that were read. */
export interface AppliedDirectory {
  readonly provisioned: ProvisioningResult;
  readonly users: number;
  readonly groups: number;
}

/** Applies the stored copy of a directory to the account, as one revision or not at all. */
export async function applyDirectory(
  engine: Engine,
  { account, integration, lease }: HeldSync & { readonly lease: Lease },
  { dryRun }: { readonly dryRun: boolean },
): Promise<AppliedDirectory> {
  const mirror = await readMirror(engine.database, account, integration);
  const change = changeOf(mirror);
  const made = await provision(engine, {
    ...{ account, integration, lease, dryRun, change: () => change },
    revision: (await engine.snapshots.fresh(account)).revision,
  });
  return { provisioned: made, users: mirror.users.length, groups: mirror.groups.length };
}

/** Returns a change that contains everything the directory has. */
function changeOf({ users, deleted, groups }: Mirror): ProvisioningChange {
  return {
    ...{ keys: 'external', isComplete: true, goneUsers: [], deletedUsers: deleted, goneGroups: [] },
    users: users.map(({ id, data }) => userOf(id, data)),
    groups: groups.map(({ id, name, members }) => ({ key: id, name, members })),
  };
}

function userOf(key: string, data: Mirror['users'][number]['data']): ProvidedUser {
  const { displayName, userPrincipalName, mail, accountEnabled } = data;
  const login = textOf(userPrincipalName);
  // A user without a mailbox is identified by the sign-in name, which has the form of an address.
  const email = textOf(mail) ?? login;
  const name = textOf(displayName);
  return {
    ...{ key, active: accountEnabled !== false },
    ...(login === undefined ? {} : { login }),
    ...(email === undefined ? {} : { email }),
    ...(name === undefined ? {} : { name }),
  };
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

/** Describes in a sentence what was imported or, for a dry run, would be. */
export function describeApplied({ provisioned, users, groups }: AppliedDirectory, dryRun: boolean): string {
  const { waiting, findings, plan, removals } = provisioned;
  const read = `${countOf(users, 'user')} and ${countOf(groups, 'group')} were read`;
  const why = plan.guards.map(({ message }) => message).join('; ');
  if (waiting !== undefined)
    return `${read}, and nothing was changed: the plan ${waiting.id} waits for an approval, because it ${why}`;
  const { create, update, delete: gone } = plan.counts;
  const out = removals.users.length === 0 ? '' : `, ${countOf(removals.users.length, 'user')} kept out`;
  const none = dryRun ? 'nothing would change' : 'nothing changed';
  const changes = create + update + gone === 0 ? none : `${create} created, ${update} changed, ${gone} deleted${out}`;
  const approval = dryRun && why !== '' ? `; that would wait for an approval, because it ${why}` : '';
  const rest = findings.length === 0 ? '' : `; ${findings.length} could not be imported unchanged`;
  return `${read}: ${changes}${approval}${rest}`;
}

function countOf(number: number, word: string): string {
  return `${number} ${word}${number === 1 ? '' : 's'}`;
}
