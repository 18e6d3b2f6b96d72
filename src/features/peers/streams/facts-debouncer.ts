/** Gathers changes of the facts of machines for a moment, so that the streams of an account follow them together. */
export interface FactsDebouncer {
  /** Facts of machines of an account changed. */
  changed(account: string): void;
  /** A stream of the account was opened: changes are followed from now on. */
  watched(account: string): void;
  close(): void;
}

/** Creates a debouncer. `follow` says whether the account has streams that follow; otherwise it is called again when one opens. */
export function createFactsDebouncer(waitMs: number, follow: (account: string) => boolean): FactsDebouncer {
  /** Accounts with changes that are not followed yet, and the timer that will. */
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
    watched,
    changed(account) {
      if (!waiting.has(account)) waiting.set(account, undefined);
      watched(account);
    },
    close() {
      closed = true;
      for (const timer of waiting.values()) clearTimeout(timer);
    },
  };
}
