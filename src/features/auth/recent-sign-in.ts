import type { Call } from '../../commit/engine.ts';
import { NotAllowed } from '../../model/errors.ts';

const recentMinutes = 15;

/** Whether a sign-in is recent enough that the same person still uses the browser; both in milliseconds since 1970. */
export function isRecent(signedInAt: number, now: number): boolean {
  return now - signedInAt <= recentMinutes * 60_000;
}

/**
 * Throws `NotAllowed` for a caller who signed in at this server a while ago: a browser that was left open must not
 * create a lasting token. Personal access tokens, and other issuers, have no sign-in of ours that could be repeated.
 */
export function requireRecentSignIn({ signedInAt }: Call, now: number): void {
  if (signedInAt === undefined || isRecent(signedInAt, now)) return;
  throw new NotAllowed(
    `tokens are made and deleted within ${recentMinutes} minutes of a sign-in, and yours is older; sign in again (\`heddle login\`, or \`prompt=login\`)`,
  );
}
