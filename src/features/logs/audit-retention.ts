import type { Engine } from '../../commit/engine.ts';
import { agedAuditLogs, deleteAgedEvents } from '../../db/logs/audit-retention.ts';

/**
 * Deletes audit events that are older than so many days, account by account, and answers how many went. Those that a
 * delivery has not passed yet, or set aside, stay.
 */
export async function shortenAuditLogs(
  { database, observer }: Pick<Engine, 'database' | 'observer'>,
  days: number,
  signal?: AbortSignal,
): Promise<number> {
  let deleted = 0;
  for (const account of await agedAuditLogs(database, days)) {
    while (signal?.aborted !== true) {
      const events = await deleteAgedEvents(database, account, days);
      if (events === 0) break;
      deleted += events;
      observer.report({ what: 'audit_deleted', events });
      // Others get their turn between two steps.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  return deleted;
}
