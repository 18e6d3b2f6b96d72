/** Waits for the end of a burst of events. */
export interface Debouncer {
  /** Records that an event happened. */
  touch(): void;
  stop(): void;
}

/** Time to wait after the last event, and maximum time to wait after the first, in milliseconds. */
export const defaultSettleTimes = { quietMs: 1000, mostMs: 10_000 };

/**
 * Creates a debouncer. It calls `settled` once no event happened for `quietMs`, and at the latest `mostMs` after the
 * first event.
 */
export function createDebouncer(settled: () => void, { quietMs, mostMs } = defaultSettleTimes): Debouncer {
  let timer: NodeJS.Timeout | undefined;
  let firstAt = 0;
  return {
    touch() {
      const now = performance.now();
      if (timer === undefined) firstAt = now;
      clearTimeout(timer);
      const due = Math.min(now + quietMs, firstAt + mostMs);
      timer = setTimeout(
        () => {
          timer = undefined;
          settled();
        },
        Math.max(0, due - now),
      );
    },
    stop() {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
