import type { Role } from './roles.ts';

/** What an actor can be. */
export const actorTypes = ['user', 'source', 'system'] as const;

/** On whose behalf a mutation happens: an argument of every engine call, recorded with every revision. */
export type Actor = {
  readonly type: (typeof actorTypes)[number];
  readonly id: string;
  readonly name: string;
  readonly email?: string;
  /** The role that a user of another account has here, because that account manages this one. */
  readonly granted?: Role;
};

/** An actor who is there and asks, and not only the name under which something was done. */
export interface Caller extends Actor {
  /** The names that a claim of the caller's sign-in token lists; absent for callers whom no such claim restricts. */
  tokenLists?(claim: string): readonly string[];
}
