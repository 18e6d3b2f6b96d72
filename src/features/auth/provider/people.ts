import type { Engine } from '../../../commit/engine.ts';
import { type Credentials, readCredentials } from '../../../db/accounts/credentials.ts';
import { findSubjectAccount, type SubjectAccount } from '../../../db/accounts/idp-people.ts';
import { hasRightsOfOwner } from '../../../model/declare/owner-groups.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import type { Stored } from '../../../model/state/stored.ts';

/** A person who can sign in with the embedded identity provider. */
export interface Person {
  readonly account: string;
  /** Newest known revision of the account. */
  readonly revision: number;
  readonly id: string;
  readonly name: string;
  readonly email: string;
  /** Whether the person proved the address, by a link that was mailed to it. */
  readonly emailProved: boolean;
  /** Why the person may not sign in; absent when they may. */
  readonly refusedBecause?: 'blocked' | 'pending' | 'promoted';
}

/** Returns the person with an id; `undefined` when there is none, or when the user is deleted. */
export async function findPerson(
  engine: Pick<Engine, 'database' | 'snapshots'>,
  id: string,
): Promise<Person | undefined> {
  const found = await findSubjectAccount(engine.database, id);
  if (found === undefined) return undefined;
  const state = await engine.snapshots.atLeast(found.account, found.revision);
  const user = state.find('User', id);
  return user === undefined ? undefined : personOf(state, user, found);
}

/** A person who has a password. */
export interface PersonWithPassword {
  readonly credentials: Credentials;
  readonly person: Person;
}

/**
 * Returns the current state of a person in an unfinished sign-in; `undefined` when they were blocked or deleted between
 * two steps.
 */
export async function readPersonWithPassword(
  { database, snapshots }: Pick<Engine, 'database' | 'snapshots'>,
  { account, user }: { readonly account: string; readonly user: string },
): Promise<PersonWithPassword | undefined> {
  const credentials = await readCredentials(database, account, user);
  if (credentials === undefined) return undefined;
  const state = await snapshots.atLeast(account, credentials.revision);
  const found = state.find('User', user);
  const person = found && personOf(state, found, credentials);
  return person === undefined || person.refusedBecause !== undefined ? undefined : { credentials, person };
}

/** Returns a user as a person who signs in, with these credentials or in an existing session. */
export function personOf(
  state: Snapshot,
  user: Stored<'User'>,
  { account, revision, proved, oneTime = false }: SubjectAccount & Partial<Pick<Credentials, 'oneTime'>>,
): Person {
  const { id, name, spec } = user;
  const barred = refusalOf(user) ?? (oneTime && isPromoted(state, user) ? 'promoted' : undefined);
  return {
    account,
    revision,
    id,
    name,
    email: spec.email ?? '',
    emailProved: proved,
    ...(barred && { refusedBecause: barred }),
  };
}

function refusalOf({ spec, derived }: Stored<'User'>): 'blocked' | 'pending' | undefined {
  if (derived.pending_approval === true) return 'pending';
  return spec.is_blocked === true ? 'blocked' : undefined;
}

/** Whether a user has the rights of an owner, which the caller who created the user did not have. */
function isPromoted(state: Snapshot, { spec, derived }: Stored<'User'>): boolean {
  return derived.created_by_owner !== true && hasRightsOfOwner(state, spec);
}
