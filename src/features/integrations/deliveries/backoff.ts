const firstRetryMs = 1000;
const maxRetryMs = 600_000;
/** Longest wait that a receiver may ask for, in milliseconds: a day. */
const maxAskedMs = 86_400_000;
/**
 * Delay of a paused delivery, in milliseconds: an hour. A person has to fix something, but the delivery is also tried
 * automatically, in case the receiver was repaired.
 */
const pausedMs = 3_600_000;

/** Delays before the next attempt, in milliseconds. `random` is between 0 and 1. */
export interface Delays {
  /**
   * Returns the delay after this number of failures in a row. It is at least `askedMs`, which the receiver asks for, up
   * to a day.
   */
  retry(failures: number, random: number, askedMs?: number): number;
  /** Returns the delay while a channel is paused. */
  pause(random: number): number;
}

/** Usual delays: from 1 s to 10 min after failures, and about an hour while paused. */
export const defaultDelays: Delays = { retry: retryDelay, pause: pauseDelay };

function retryDelay(failures: number, random: number, askedMs = 0): number {
  const spread = 1 + random / 2;
  const base = Math.min(maxRetryMs / 1.5, firstRetryMs * 2 ** Math.min(failures - 1, 30));
  return Math.max(base * spread, Math.min(askedMs, maxAskedMs));
}

function pauseDelay(random: number): number {
  return pausedMs * (1 + random / 10);
}
