import type { Engine } from '../../../commit/engine.ts';
import type { SyncLog } from '../../../db/logs/sync-logs.ts';
import { recordSync } from '../provisioning/report.ts';

/** Writes down what integrations took over, without a write for each request. */
export interface SyncRecorder {
  note(account: string, integration: string, entries: readonly SyncLog[]): void;
  /** Writes what is noted and stops. */
  close(): Promise<void>;
}

/** How long entries are gathered before they are written together, and how many of one integration at most. */
const gatherMs = 1000;
const most = 1000;

/** The log of an integration is for people: what a server that dies has not written of it is in the audit events all the same. */
export function createSyncRecorder(engine: Engine): SyncRecorder {
  let pending = new Map<string, Map<string, SyncLog[]>>();
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  const write = async (noted: typeof pending): Promise<void> => {
    for (const [account, integrations] of noted)
      for (const [integration, entries] of integrations)
        await recordSync(engine, account, integration, entries).catch((error) =>
          engine.failed(`the log of the integration ${integration} could not be written`, error),
        );
  };
  const flush = (): Promise<void> => {
    timer = undefined;
    const noted = pending;
    pending = new Map();
    writing = writing.then(() => write(noted));
    return writing;
  };
  return {
    note(account, integration, entries) {
      const integrations = pending.get(account) ?? new Map<string, SyncLog[]>();
      pending.set(account, integrations);
      const noted = integrations.get(integration) ?? [];
      integrations.set(integration, [...noted, ...entries].slice(-most));
      timer ??= setTimeout(() => void flush(), gatherMs).unref();
    },
    close() {
      clearTimeout(timer);
      return flush();
    },
  };
}
