/** Looks again and again, and sooner when there is a reason. */
export interface Looks {
  /** Looks in so many milliseconds at the latest. */
  within(ms: number): void;
  /** Ends it; waits for a look that is under way. */
  stop(): Promise<void>;
}

/** When to look. */
export interface LookTimes {
  /** Without any reason. */
  readonly pollMs: number;
  /** After what happened during a look. */
  readonly gatherMs: number;
}

/** Looks at once, and from then on; one look at a time. `look` does not throw. */
export function keepLooking(look: () => Promise<void>, { pollMs, gatherMs }: LookTimes): Looks {
  let timer: { readonly at: number; readonly handle: NodeJS.Timeout } | undefined;
  let looking: Promise<void> | undefined;
  let isDue = false;
  let stopped = false;
  const within = (ms: number): void => {
    const at = performance.now() + ms;
    if (stopped || (timer !== undefined && timer.at <= at)) return;
    clearTimeout(timer?.handle);
    timer = { at, handle: setTimeout(start, ms) };
  };
  const start = (): void => {
    timer = undefined;
    isDue = looking !== undefined;
    looking ??= look().finally(() => {
      looking = undefined;
      within(isDue ? gatherMs : pollMs);
      isDue = false;
    });
  };
  within(0);
  return {
    within,
    async stop() {
      stopped = true;
      clearTimeout(timer?.handle);
      await looking;
    },
  };
}
