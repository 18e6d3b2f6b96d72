import type { Engine } from '../../engine/engine.ts';
import type { StoredObject } from '../../model/object.ts';
import { findSubject } from '../../store/idp-people.ts';

/** Somebody who can sign in by the embedded identity provider. */
export interface Person {
  readonly account: string;
  /** The newest revision of the account that was seen. */
  readonly revision: number;
  readonly id: string;
  readonly name: string;
  readonly email: string;
  /** Why the person is not let in; absent when they are. */
  readonly barred?: 'blocked' | 'pending';
}

/** The person with an id, `undefined` when there is none or none any more. */
export async function findPerson(
  engine: Pick<Engine, 'database' | 'snapshots'>,
  id: string,
): Promise<Person | undefined> {
  const found = await findSubject(engine.database, id);
  if (found === undefined) return undefined;
  const user = (await engine.snapshots.at(found.account, found.revision)).get(id);
  return user === undefined ? undefined : personOf(user, found);
}

/** A user as a person who signs in. */
export function personOf(
  { id, name, spec, derived }: StoredObject,
  { account, revision }: Pick<Person, 'account' | 'revision'>,
): Person {
  const barred = derived['pending_approval'] === true ? 'pending' : spec['is_blocked'] === true ? 'blocked' : undefined;
  return { account, revision, id, name, email: String(spec['email'] ?? ''), ...(barred && { barred }) };
}
