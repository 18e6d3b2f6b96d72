import type { Mailer } from './mail.ts';
import { createSignInLimits, type SignInLimits } from './sign-in-limits.ts';

/** How people come to this server, and what is done about those who guess. */
export interface LocalPeople {
  /** Absent: the caller who invites delivers the link. */
  readonly mailer: Mailer | undefined;
  /** Where people reach the server, without a slash at the end. */
  publicUrl(): string;
  readonly guesses: SignInLimits;
  /** Called after a password was changed, so that the user's other sessions end. */
  readonly passwordChanged: Set<(whose: { readonly account: string; readonly user: string }) => Promise<void>>;
}

/** People of a server without a mail server. */
export function createLocalPeople(given: Partial<LocalPeople> = {}): LocalPeople {
  return {
    mailer: undefined,
    publicUrl: () => 'http://127.0.0.1:8080',
    guesses: createSignInLimits(),
    passwordChanged: new Set(),
    ...given,
  };
}
