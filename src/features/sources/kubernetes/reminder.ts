/** Calls a function repeatedly while something is missing. */
export interface Reminder {
  /** Records whether something is missing now. If so, schedules one call. */
  note(isMissing: boolean): void;
  stop(): void;
}

/** Pauses in milliseconds: the first one is `firstMs`, and each further one is twice as long, up to `mostMs`. */
const defaultPauses = { firstMs: 2000, mostMs: 30_000 };

/** Creates a reminder. `call` must look again, and pass the result to `note`. */
export function createReminder(call: () => void, { firstMs, mostMs } = defaultPauses): Reminder {
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
