import type { Call, Engine } from '../../commit/engine.ts';
import { listSyncLogs, type SyncLogEntry } from '../../db/logs/sync-logs.ts';
import type { Kind } from '../../model/declare/kind.ts';
import { readObject } from '../../objects/objects.ts';

/** Returns the log entries of an integration's runs, newest first. Throws `NotFound` for a missing integration. */
export async function readSyncLogs(
  engine: Engine,
  call: Call,
  kind: Kind,
  id: string,
): Promise<readonly SyncLogEntry[]> {
  await readObject(engine, call, kind, id);
  return await listSyncLogs(engine.database, call.account, id);
}
