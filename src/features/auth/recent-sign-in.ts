import type { Call } from '../../commit/engine.ts';
import { NotAllowed } from '../../model/errors.ts';

const recentMinutes = 15;

/** Whether somebody signed in so short a time ago that it is still them who sits there; both in milliseconds since 1970. */
export function isRecent(signedInAt: number, now: number): boolean {
  return now - signedInAt <= recentMinutes * 60_000;
}

/**
 * Throws `NotAllowed` for whoever signed in at this server a while ago: with a browser that was left open, nobody shall make
 * a token that lasts. Personal access tokens, and other issuers, have no sign-in of ours that could be repeated.
 */
export function requireRecentSignIn({ signedInAt }: Call, now: number): void {
  if (signedInAt === undefined || isRecent(signedInAt, now)) return;
  throw new NotAllowed(
    `tokens are made and deleted within ${recentMinutes} minutes of a sign-in, and yours is older; sign in again (\`heddle login\`, or \`prompt=login\`)`,
  );
}
