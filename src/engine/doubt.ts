import { Conflict, Internal, Unavailable } from '../model/errors.ts';
import type { Database } from '../store/database.ts';
import type { RevisionInput } from '../store/history.ts';
import { hasRevision } from '../store/revisions.ts';

/** How often something is planned again when other servers were faster, or its connection breaks. */
export const attempts = 20;

/** Waits between questions to a database that does not answer, in milliseconds; about 20 seconds in all. */
const doubtWaits = [50, 100, 200, 400, 800, 1500, 2500, 4000, 5000, 6000];

/** Whether the revisions were written after all; throws when the database does not answer for long. */
export async function resolveDoubt(
  database: Database,
  account: string,
  revisions: readonly RevisionInput[],
  cause: Unavailable,
): Promise<boolean> {
  const requestId = revisions[0]?.requestId;
  if (requestId === undefined) throw new Internal('a batch without revisions was written', { cause });
  for (const wait of doubtWaits) {
    try {
      return await hasRevision(database, account, requestId);
    } catch (error) {
      const isPassing = error instanceof Unavailable || (error instanceof Conflict && error.reason === 'locked');
      if (!isPassing) throw error;
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }
  throw new Unavailable(
    'the connection to the database broke while this was written, and it does not answer; whether it happened is unknown: read before trying again',
    {
      cause,
      inDoubt: true,
    },
  );
}
