import type { Engine } from '../../commit/engine.ts';
import { readStreamExtent } from '../../db/logs/events.ts';

/** Callbacks for the events of one account. */
export interface AccountWatcher {
  wake(): void;
  gone(): void;
}

/** Reports when an account has a new revision, whichever server committed it. */
export interface AccountWatch {
  /**
   * Calls `wake` soon after every revision or notice of the account, and `gone` when the account no longer exists.
   * Returns a function that stops the calls.
   */
  follow(account: string, watcher: AccountWatcher): () => void;
  close(): void;
}

/** Interval of polling, in milliseconds: maximum delay of a revision whose notice was lost. */
const pollMs = 1000;

/**
 * Creates an account watch. Notices report the commits of all servers immediately. Lost notices are made up for by
 * polling the accounts that have watchers.
 */
export function createAccountWatch(engine: Pick<Engine, 'database' | 'notices'>): AccountWatch {
  const watchers = new Map<string, Set<AccountWatcher>>();
  const seen = new Map<string, string>();
  const wake = (account: string): void => {
    for (const watcher of watchers.get(account) ?? []) watcher.wake();
  };
  const end = (account: string): void => {
    for (const watcher of watchers.get(account) ?? []) watcher.gone();
  };
  const unlisten = engine.notices.on((notice) => {
    if (notice.what === 'sealing' || notice.what === 'turn') return;
    if (notice.what === 'gone') end(notice.account);
    else wake(notice.account);
  });
  let polling = false;
  const ask = async (): Promise<void> => {
    if (polling) return;
    polling = true;
    for (const account of watchers.keys()) {
      // When the database is not reachable, the next round queries it again. The watchers notice the outage themselves.
      const mark = await readStreamExtent(engine.database, account).then(
        (found) => (found === undefined ? 'gone' : JSON.stringify(found.end)),
        () => seen.get(account),
      );
      if (mark === undefined || mark === seen.get(account)) continue;
      seen.set(account, mark);
      if (mark === 'gone') end(account);
      else wake(account);
    }
    polling = false;
  };
  const timer = setInterval(() => void ask(), pollMs);
  timer.unref();
  return {
    follow(account, watcher) {
      const present = watchers.get(account) ?? new Set();
      watchers.set(account, present.add(watcher));
      return () => {
        present.delete(watcher);
        if (present.size === 0) watchers.delete(account);
      };
    },
    close() {
      clearInterval(timer);
      unlisten();
      watchers.clear();
    },
  };
}
