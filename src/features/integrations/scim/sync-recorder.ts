import type { Engine } from '../../../commit/engine.ts';
import { addSyncLogs, type SyncLog } from '../../../db/logs/sync-logs.ts';
import { recordSync } from '../provisioning/report.ts';

/** Writes down what integrations took over, without a write for each request. */
export interface SyncRecorder {
  note(account: string, integration: string, entries: readonly SyncLog[]): void;
  /** A request was refused: the log says so, and nothing was taken over. */
  noteRefused(account: string, integration: string, message: string): void;
  /** Writes what is noted and stops. */
  close(): Promise<void>;
}

/** How long entries are gathered before they are written together, and how many of one integration at most. */
const gatherMs = 1000;
const most = 1000;

/** What is written of an integration. */
interface Noted {
  readonly entries: readonly SyncLog[];
  readonly isSynced: boolean;
}

/** The log of an integration is for people: what a server that dies has not written of it is in the audit events all the same. */
export function createSyncRecorder(engine: Engine): SyncRecorder {
  let pending = new Map<string, Map<string, Noted>>();
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  const write = async (noted: typeof pending): Promise<void> => {
    for (const [account, integrations] of noted)
      for (const [integration, { entries, isSynced }] of integrations)
        await (isSynced
          ? recordSync(engine, account, integration, entries)
          : addSyncLogs(engine.database, account, integration, entries)
        ).catch((error) => engine.failed(`the log of the integration ${integration} could not be written`, error));
  };
  const flush = (): Promise<void> => {
    timer = undefined;
    const noted = pending;
    pending = new Map();
    writing = writing.then(() => write(noted));
    return writing;
  };
  const add = (account: string, integration: string, more: Noted): void => {
    const integrations = pending.get(account) ?? new Map<string, Noted>();
    pending.set(account, integrations);
    const { entries, isSynced } = integrations.get(integration) ?? { entries: [], isSynced: false };
    integrations.set(integration, {
      entries: [...entries, ...more.entries].slice(-most),
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
