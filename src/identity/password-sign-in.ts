import type { Engine } from '../engine/engine.ts';
import type { StoredObject } from '../model/object.ts';
import { type Credentials, findCredentials } from '../store/credentials.ts';
import type { Guess, Guesses } from './guesses.ts';
import { verifyPassword } from './passwords.ts';

/** What became of an attempt to sign in. Whether the person exists is not told. */
export type PasswordSignIn =
  /** The password is right. Whether the user may come in, and a second factor, are for the caller to look at. */
  | { readonly result: 'right'; readonly credentials: Credentials; readonly user: StoredObject }
  | { readonly result: 'wrong' }
  /** Too many tries: nothing was looked at. */
  | { readonly result: 'later'; readonly seconds: number };

/** Checks an e-mail address and a password, at one look-up and one hash whatever is known of them. */
export async function checkPassword(
  engine: Pick<Engine, 'database' | 'snapshots'>,
  guesses: Guesses,
  guess: Guess & { readonly password: string },
): Promise<PasswordSignIn> {
  const seconds = guesses.begin(guess);
  if (seconds > 0) return { result: 'later', seconds };
  const credentials = await findCredentials(engine.database, guess.person.trim());
  const isRight = await verifyPassword(credentials?.hash, guess.password);
  if (credentials === undefined || !isRight) return { result: 'wrong' };
  const user = (await engine.snapshots.at(credentials.account, credentials.revision)).get(credentials.user);
  if (user === undefined) return { result: 'wrong' };
  guesses.right(guess);
  return { result: 'right', credentials, user };
}
