import type { Call, Engine } from '../../commit/engine.ts';
import { addSyncLogs, listSyncLogs, type SyncLog, type SyncLogEntry } from '../../db/logs/sync-logs.ts';
import type { Kind } from '../../model/declare/kind.ts';
import { NotFound } from '../../model/errors.ts';
import type { StoredObject } from '../../model/state/object.ts';
import { isOfKind } from '../../model/state/stored.ts';
import { readObject } from '../../objects/objects.ts';

/** A request to an integration: the run that was recorded, in a sentence. */
export interface SyncRun {
  readonly result: string;
}

/**
 * Records a request that an integration fetch its data. Nothing is fetched yet, because this version has no connector
 * for any host: the run fails, and its log says so.
 */
export async function recordSyncRun(engine: Engine, call: Call, kind: Kind, id: string): Promise<SyncRun> {
  const { object } = await readObject(engine, call, kind, id);
  const timestamp = engine.now();
  const reason = `this version has no connector for ${hostOf(object)}`;
  const entries: readonly SyncLog[] = [
    { level: 'info', timestamp, message: `${call.actor.name} asked for a sync` },
    { level: 'error', timestamp, message: `the sync failed: ${reason}; no users or groups were read or changed` },
  ];
  if (!(await addSyncLogs(engine.database, call.account, id, entries)))
    throw new NotFound(`${kind.name.toLowerCase()} ${id} not found`);
  return { result: `the run is recorded, and it failed: ${reason}` };
}

function hostOf(object: StoredObject): string {
  return isOfKind(object, 'DirectoryIntegration') ? (object.spec.host ?? 'it') : 'it';
}

/** What the runs of an integration had to say, newest first. Throws `NotFound` for a missing integration. */
export async function readSyncLogs(
  engine: Engine,
  call: Call,
  kind: Kind,
  id: string,
): Promise<readonly SyncLogEntry[]> {
  await readObject(engine, call, kind, id);
  return await listSyncLogs(engine.database, call.account, id);
}
