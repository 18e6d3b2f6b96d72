/** Waits until a burst of events has settled. */
export interface Settler {
  /** Something happened. */
  touch(): void;
  stop(): void;
}

/** So long after the last event, and so long after the first at the most, in milliseconds. */
export const plainSettle = { quietMs: 1000, mostMs: 10_000 };

/** Calls `settled` when nothing happened for a while, or when something has been happening for too long. */
export function createSettler(settled: () => void, { quietMs, mostMs } = plainSettle): Settler {
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
