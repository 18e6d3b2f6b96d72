import type { Mailer } from './mail.ts';
import { createSignInLimits, type SignInLimits } from './sign-in-limits.ts';

/** How people sign in with passwords of this server, and how wrong guesses are limited. */
export interface LocalSignIn {
  /** Absent: the caller who invites must deliver the link. */
  readonly mailer: Mailer | undefined;
  /** Public address of the server, without a slash at the end. */
  publicUrl(): string;
  readonly signInLimits: SignInLimits;
  /** Called after a password was changed, to end the user's other sessions. */
  readonly passwordChangeListeners: Set<(whose: { readonly account: string; readonly user: string }) => Promise<void>>;
}

/** Creates the settings of a server without a mail server, unless `given` overrides them. */
export function createLocalSignIn(given: Partial<LocalSignIn> = {}): LocalSignIn {
  return {
    mailer: undefined,
    publicUrl: () => 'http://127.0.0.1:8080',
    signInLimits: createSignInLimits(),
    passwordChangeListeners: new Set(),
    ...given,
  };
}
