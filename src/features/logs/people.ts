import type { Snapshot } from '../../model/state/snapshot.ts';

/** Selection of users by id, e-mail address and name. */
export interface UserFilter {
  readonly id?: string;
  /** Part of the e-mail address, ignoring case. */
  readonly email?: string;
  /** Part of the name, ignoring case. */
  readonly name?: string;
}

/** Returns the ids of the users that match all given members, `undefined` when none is given. */
export function userIdsOf(state: Snapshot, { id, email, name }: UserFilter): readonly string[] | undefined {
  if (email === undefined && name === undefined) return id === undefined ? undefined : [id];
  return state
    .ofKind('User')
    .filter(
      (user) =>
        (id === undefined || user.id === id) &&
        (email === undefined || containsText(user.spec.email, email)) &&
        (name === undefined || containsText(user.spec.name, name)),
    )
    .map((user) => user.id);
}

/** Returns the ids of the users whose name or e-mail address contains the text, ignoring case. */
export function findUserIdsByText(state: Snapshot, text: string): readonly string[] {
  return state
    .ofKind('User')
    .filter(({ spec }) => containsText(spec.email, text) || containsText(spec.name, text))
    .map(({ id }) => id);
}

function containsText(value: unknown, part: string): boolean {
  return typeof value === 'string' && value.toLowerCase().includes(part.toLowerCase());
}
