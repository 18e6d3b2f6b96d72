import type { Engine } from '../../commit/engine.ts';
import { type Credentials, findCredentials, mostCandidates } from '../../db/accounts/credentials.ts';
import type { Stored } from '../../model/state/stored.ts';
import { verifyPassword } from './passwords.ts';
import { personIn, type SignInAttempt, type SignInLimits } from './sign-in-limits.ts';

/** A user whose password is right. */
export interface PasswordMatch {
  readonly credentials: Credentials;
  readonly user: Stored<'User'>;
}

/** What became of an attempt to sign in. Whether the person exists is not told. */
export type PasswordSignIn =
  /** Of one user, or of several in different accounts. Whether they may come in, and a second factor, are for the caller to look at. */
  | { readonly result: 'right'; readonly matches: readonly [PasswordMatch, ...PasswordMatch[]] }
  | { readonly result: 'wrong' }
  /** Too many tries: nothing was looked at. */
  | { readonly result: 'later'; readonly seconds: number };

/** Somebody who signs in: the address, and the account when they name one. */
export interface PasswordAttempt extends SignInAttempt {
  readonly password: string;
  readonly account?: string;
}

/**
 * Checks an e-mail address and a password. Several accounts may have a user with the address, so the password decides among
 * them. It is one look-up and the same number of hashes however many there are: whoever made a user with somebody else's
 * address must not see by the time whether there are more.
 */
export async function checkPassword(
  engine: Pick<Engine, 'database' | 'snapshots'>,
  guesses: SignInLimits,
  { address, person, password, account }: PasswordAttempt,
): Promise<PasswordSignIn> {
  const email = person.trim();
  const guess = { address, person: account === undefined ? email : personIn(account, email) };
  const seconds = guesses.begin(guess);
  if (seconds > 0) return { result: 'later', seconds };
  const candidates = await findCredentials(engine.database, email, account);
  const isRight = await verifyEach(candidates, password);
  const right = await Promise.all(candidates.filter((_, at) => isRight[at]).map((one) => withUser(engine, one)));
  const [first, ...more] = right.filter((one) => one !== undefined);
  if (first === undefined) return { result: 'wrong' };
  // With a user of their own, somebody could make themselves known for an address that is not theirs.
  guesses.right(guess, { remember: candidates.length === 1 || first.credentials.proved });
  return { result: 'right', matches: [first, ...more] };
}

/** Whether the password is that of each of them. */
function verifyEach(candidates: readonly Credentials[], password: string): Promise<readonly boolean[]> {
  const hashes = Array.from({ length: mostCandidates }, (_, at) => candidates[at]?.hash);
  return Promise.all(hashes.map((hash) => verifyPassword(hash, password)));
}

async function withUser(
  { snapshots }: Pick<Engine, 'snapshots'>,
  credentials: Credentials,
): Promise<PasswordMatch | undefined> {
  const user = (await snapshots.at(credentials.account, credentials.revision)).find('User', credentials.user);
  return user && { credentials, user };
}
