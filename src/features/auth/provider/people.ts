import type { Engine } from '../../../commit/engine.ts';
import { type Credentials, readCredentials } from '../../../db/accounts/credentials.ts';
import { findSubjectAccount, type SubjectAccount } from '../../../db/accounts/idp-people.ts';
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
  readonly refusedBecause?: 'blocked' | 'pending';
}

/** Returns the person with an id; `undefined` when there is none, or when the user is deleted. */
export async function findPerson(
  engine: Pick<Engine, 'database' | 'snapshots'>,
  id: string,
): Promise<Person | undefined> {
  const found = await findSubjectAccount(engine.database, id);
  if (found === undefined) return undefined;
  const user = (await engine.snapshots.atLeast(found.account, found.revision)).find('User', id);
  return user === undefined ? undefined : personOf(user, found);
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
  const found = (await snapshots.atLeast(account, credentials.revision)).find('User', user);
  const person = found && personOf(found, credentials);
  return person === undefined || person.refusedBecause !== undefined ? undefined : { credentials, person };
}

/** Returns a user as a person who signs in. */
export function personOf(
  { id, name, spec, derived }: Stored<'User'>,
  { account, revision, proved }: SubjectAccount,
): Person {
  const barred = derived.pending_approval === true ? 'pending' : spec.is_blocked === true ? 'blocked' : undefined;
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
