/** Combines the requests to read an account that arrive within a short time. */
export interface ReadScheduler {
  schedule(this: void, account: string): void;
  close(): void;
}

/** Creates a read scheduler. `read` is called with the account `waitMs` milliseconds after the first request. */
export function createReadScheduler(waitMs: number, read: (account: string) => void): ReadScheduler {
  const waiting = new Map<string, NodeJS.Timeout>();
  let closed = false;
  const flush = (account: string): void => {
    waiting.delete(account);
    read(account);
  };
  return {
    schedule(account) {
      if (!closed && !waiting.has(account)) waiting.set(account, setTimeout(flush, waitMs, account).unref());
    },
    close() {
      closed = true;
      for (const timer of waiting.values()) clearTimeout(timer);
    },
  };
}
