/** Collects changes of machine facts for a short time, so that the streams of an account process them together. */
export interface FactsDebouncer {
  /** Reports that facts of machines of an account changed. */
  factsChanged(this: void, account: string): void;
  close(): void;
}

/** Creates a debouncer. `follow` is called with the account `waitMs` milliseconds after the first change. */
export function createFactsDebouncer(waitMs: number, follow: (account: string) => void): FactsDebouncer {
  const waiting = new Map<string, NodeJS.Timeout>();
  let closed = false;
  const flush = (account: string): void => {
    waiting.delete(account);
    follow(account);
  };
  return {
    factsChanged(account) {
      if (!closed && !waiting.has(account)) waiting.set(account, setTimeout(flush, waitMs, account).unref());
    },
    close() {
      closed = true;
      for (const timer of waiting.values()) clearTimeout(timer);
    },
  };
}
