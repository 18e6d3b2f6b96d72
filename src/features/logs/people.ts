import type { Snapshot } from '../../model/state/snapshot.ts';

/** Which users are meant. */
export interface Persons {
  readonly id?: string;
  /** A part of the e-mail address, in any case. */
  readonly email?: string;
  /** A part of the name, in any case. */
  readonly name?: string;
}

/** The ids of the users that are meant by all members; `undefined` when none is given. */
export function userIdsOf(state: Snapshot, { id, email, name }: Persons): readonly string[] | undefined {
  if (email === undefined && name === undefined) return id === undefined ? undefined : [id];
  return state
    .ofKind('User')
    .filter(
      (user) =>
        (id === undefined || user.id === id) &&
        (email === undefined || holds(user.spec.email, email)) &&
        (name === undefined || holds(user.spec.name, name)),
    )
    .map((user) => user.id);
}

/** The ids of users whose name or e-mail address has the text in it. */
export function usersNamed(state: Snapshot, text: string): readonly string[] {
  return state
    .ofKind('User')
    .filter(({ spec }) => holds(spec.email, text) || holds(spec.name, text))
    .map(({ id }) => id);
}

function holds(value: unknown, part: string): boolean {
  return typeof value === 'string' && value.toLowerCase().includes(part.toLowerCase());
}
