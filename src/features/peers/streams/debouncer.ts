/** Combines the requests for an account that arrive within a short time. */
export interface Debouncer {
  request(this: void, account: string): void;
  close(): void;
}

/** Creates a debouncer. `act` is called with the account `waitMs` milliseconds after the first request. */
export function createDebouncer(waitMs: number, act: (account: string) => void): Debouncer {
  const waiting = new Map<string, NodeJS.Timeout>();
  let closed = false;
  const flush = (account: string): void => {
    waiting.delete(account);
    act(account);
  };
  return {
    request(account) {
      if (!closed && !waiting.has(account)) waiting.set(account, setTimeout(flush, waitMs, account).unref());
    },
    close() {
      closed = true;
      for (const timer of waiting.values()) clearTimeout(timer);
    },
  };
}
