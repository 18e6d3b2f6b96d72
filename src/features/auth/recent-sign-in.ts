import type { Call } from '../../commit/engine.ts';
import { NotAllowed } from '../../model/errors.ts';

const recentMinutes = 15;

/**
 * Returns whether a sign-in is so recent that the same person probably still uses the browser. Both times are in
 * milliseconds since 1970.
 */
export function isRecent(signedInAt: number, now: number): boolean {
  return now - signedInAt <= recentMinutes * 60_000;
}

/**
 * Throws `NotAllowed` for a caller whose sign-in at this server is too old: a browser that was left open must not
 * create a lasting token. Callers with personal access tokens, or from other issuers, have no sign-in at this server
 * that they could repeat.
 */
export function requireRecentSignIn({ signedInAt }: Call, now: number): void {
  if (signedInAt === undefined || isRecent(signedInAt, now)) return;
  throw new NotAllowed(
    `creating or deleting a token needs a sign-in within the last ${recentMinutes} minutes, and yours is older; sign in again (\`heddle login\`, or \`prompt=login\`)`,
  );
}
