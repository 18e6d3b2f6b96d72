/** Collects changes of machine facts for a short time, so that the streams of an account process them together. */
export interface FactsDebouncer {
  /** Reports that facts of machines of an account changed. */
  factsChanged(account: string): void;
  /** Reports that a stream of the account was opened. From then on, changes are passed on. */
  streamOpened(account: string): void;
  close(): void;
}

/**
 * Creates a debouncer. `follow` returns whether the account has streams; otherwise it is called again after a stream
 * was opened.
 */
export function createFactsDebouncer(waitMs: number, follow: (account: string) => boolean): FactsDebouncer {
  /** Accounts with changes that were not passed on, and the timers that will do so. */
  const waiting = new Map<string, NodeJS.Timeout | undefined>();
  let closed = false;
  const flush = (account: string): void => {
    waiting.delete(account);
    if (!follow(account)) waiting.set(account, undefined);
  };
  const watched = (account: string): void => {
    if (closed || !waiting.has(account) || waiting.get(account) !== undefined) return;
    waiting.set(account, setTimeout(flush, waitMs, account).unref());
  };
  return {
    streamOpened: watched,
    factsChanged(account) {
      if (!waiting.has(account)) waiting.set(account, undefined);
      watched(account);
    },
    close() {
      closed = true;
      for (const timer of waiting.values()) clearTimeout(timer);
    },
  };
}
