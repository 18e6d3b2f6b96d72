import type { Engine } from '../../../commit/engine.ts';
import { addSyncLogs, type SyncLog } from '../../../db/logs/sync-logs.ts';
import { recordSync } from '../provisioning/report.ts';

/** Writes the sync logs of integrations, in batches instead of once for each request. */
export interface SyncRecorder {
  note(account: string, integration: string, entries: readonly SyncLog[]): void;
  /** Notes that a request was refused. It does not count as a synchronisation. */
  noteRefused(account: string, integration: string, message: string): void;
  /** Writes the entries that are noted and stops. */
  close(): Promise<void>;
}

/**
 * Time for which entries are gathered before they are written, in milliseconds, and maximum number of entries of one
 * integration in one write.
 */
const gatherMs = 1000;
const maxEntries = 1000;

/** Entries of one integration that are to be written. */
interface PendingEntries {
  readonly entries: readonly SyncLog[];
  readonly isSynced: boolean;
}

/**
 * Creates a sync recorder. The log of an integration is only for reading by people: entries that a crashing server has
 * not written are lost, but the audit events of the same changes are stored.
 */
export function createSyncRecorder(engine: Engine): SyncRecorder {
  let pending = new Map<string, Map<string, PendingEntries>>();
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  const write = async (noted: typeof pending): Promise<void> => {
    for (const [account, integrations] of noted)
      for (const [integration, { entries, isSynced }] of integrations)
        await (isSynced
          ? recordSync(engine, account, integration, entries)
          : addSyncLogs(engine.database, account, integration, entries)
        ).catch((error) =>
          engine.reportFailure(`the log of the integration ${integration} could not be written`, error),
        );
  };
  const flush = (): Promise<void> => {
    timer = undefined;
    const noted = pending;
    pending = new Map();
    writing = writing.then(() => write(noted));
    return writing;
  };
  const add = (account: string, integration: string, more: PendingEntries): void => {
    const integrations = pending.get(account) ?? new Map<string, PendingEntries>();
    pending.set(account, integrations);
    const { entries, isSynced } = integrations.get(integration) ?? { entries: [], isSynced: false };
    integrations.set(integration, {
      entries: [...entries, ...more.entries].slice(-maxEntries),
      isSynced: isSynced || more.isSynced,
    });
    timer ??= setTimeout(() => void flush(), gatherMs).unref();
  };
  return {
    note: (account, integration, entries) => add(account, integration, { entries, isSynced: true }),
    noteRefused: (account, integration, message) =>
      add(account, integration, {
        entries: [{ level: 'warning', timestamp: engine.now(), message: `refused: ${message}` }],
        isSynced: false,
      }),
    close() {
      clearTimeout(timer);
      return flush();
    },
  };
}
