/** Calls again and again while something is missing. */
export interface Reminder {
  /** Whether something is missing now; if so, it calls once after a while. */
  note(isMissing: boolean): void;
  stop(): void;
}

/** After so long it calls first, in milliseconds, then after twice as long each time, up to the most. */
const plainPauses = { firstMs: 2000, mostMs: 30_000 };

/** Creates one. What it calls looks again, and notes what is found. */
export function createReminder(call: () => void, { firstMs, mostMs } = plainPauses): Reminder {
  let timer: NodeJS.Timeout | undefined;
  let pause = firstMs;
  return {
    note(isMissing) {
      clearTimeout(timer);
      if (!isMissing) {
        pause = firstMs;
        return;
      }
      timer = setTimeout(call, pause);
      pause = Math.min(2 * pause, mostMs);
    },
    stop: () => clearTimeout(timer),
  };
}
