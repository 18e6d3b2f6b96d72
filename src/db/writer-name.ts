import type { Actor } from '../model/declare/actor.ts';

/** How many bytes Postgres keeps of the name of a session. */
const longest = 63;

/** The beginning of the names of all sessions that write to an account. */
export function writerPrefix(account: string): string {
  return `heddle ${account} `;
}

/** The name of a session that writes, which shows others on whose behalf; only ASCII gets through. */
export function writerName(account: string, by: string): string {
  return `${writerPrefix(account)}${by}`.replace(/[^\x20-\x7e]/g, '?').slice(0, longest);
}

/** Names a writer to those who wait for it. */
export function describeWriter({
  actor,
  planId,
}: {
  readonly actor: Actor;
  readonly planId?: string | undefined;
}): string {
  const who = actor.type === 'source' ? `source ${actor.name}` : actor.name;
  return planId === undefined ? who : `plan ${planId} of ${who}`;
}
