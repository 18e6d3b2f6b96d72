import type { Engine } from '../../commit/engine.ts';
import { type Credentials, findCredentials, maxCandidates } from '../../db/accounts/credentials.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import type { Stored } from '../../model/state/stored.ts';
import { verifyPassword } from './passwords.ts';
import { accountPersonKey, type SignInAttempt, type SignInLimits } from './sign-in-limits.ts';

/** A user for whom the password is right. */
export interface PasswordMatch {
  readonly credentials: Credentials;
  readonly user: Stored<'User'>;
  /** State of the user's account. */
  readonly state: Snapshot;
}

/** Result of an attempt to sign in. Does not show whether the person exists. */
export type PasswordSignIn =
  /**
   * One user, or several in different accounts. The caller must check whether they may sign in, and their second
   * factor.
   */
  | { readonly result: 'right'; readonly matches: readonly [PasswordMatch, ...PasswordMatch[]] }
  | { readonly result: 'wrong' }
  /** Too many attempts: the password was not checked. */
  | { readonly result: 'later'; readonly seconds: number };

/** An attempt to sign in with an e-mail address, a password, and optionally the id of an account. */
export interface PasswordAttempt extends SignInAttempt {
  readonly password: string;
  readonly account?: string;
}

/**
 * Checks an e-mail address and a password. Several accounts may have a user with the address, so the password selects
 * among them. The check always takes one look-up and the same number of hashes: an account that created a user with
 * another person's address must not learn from the time of the answer whether other accounts have one.
 */
export async function checkPassword(
  engine: Pick<Engine, 'database' | 'snapshots' | 'passwordCost'>,
  guesses: SignInLimits,
  { address, person, password, account }: PasswordAttempt,
): Promise<PasswordSignIn> {
  const email = person.trim();
  const guess = { address, person: account === undefined ? email : accountPersonKey(account, email) };
  const seconds = guesses.beginAttempt(guess);
  if (seconds > 0) return { result: 'later', seconds };
  const candidates = await findCredentials(engine.database, email, account);
  const isRight = await verifyEach(engine, candidates, password);
  const right = await Promise.all(candidates.filter((_, at) => isRight[at]).map((one) => withUser(engine, one)));
  const [first, ...more] = right.filter((one) => one !== undefined);
  if (first === undefined) return { result: 'wrong' };
  // Otherwise an account could create a user with another person's address, and its client would be remembered as that
  // person's.
  guesses.recordSuccess(guess, { remember: candidates.length === 1 || first.credentials.proved });
  return { result: 'right', matches: [first, ...more] };
}

/** Returns whether the password is right, for each candidate. */
function verifyEach(
  engine: Pick<Engine, 'passwordCost'>,
  candidates: readonly Credentials[],
  password: string,
): Promise<readonly boolean[]> {
  const hashes = Array.from({ length: maxCandidates }, (_, at) => candidates[at]?.hash);
  return Promise.all(hashes.map((hash) => verifyPassword(engine, hash, password)));
}

async function withUser(
  { snapshots }: Pick<Engine, 'snapshots'>,
  credentials: Credentials,
): Promise<PasswordMatch | undefined> {
  const state = await snapshots.atLeast(credentials.account, credentials.revision);
  const user = state.find('User', credentials.user);
  return user && { credentials, user, state };
}
