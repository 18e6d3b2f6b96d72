import type { Role } from './roles.ts';

/** Types of actors. */
export const actorTypes = ['user', 'source', 'system'] as const;

/** The identity that makes a mutation. Every engine call takes one, and every revision records it. */
export type Actor = {
  readonly type: (typeof actorTypes)[number];
  readonly id: string;
  readonly name: string;
  readonly email?: string;
  /** Role in this account of a user of another account, which manages this account. */
  readonly granted?: Role;
};

/** An actor that makes the current request, as opposed to one that is only recorded for a past change. */
export interface Caller extends Actor {
  /** Returns the names that a claim of the caller's sign-in token lists. Absent for callers that no claim restricts. */
  tokenLists?(claim: string): readonly string[];
}
