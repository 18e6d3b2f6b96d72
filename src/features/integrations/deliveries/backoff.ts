const firstMs = 1000;
const mostMs = 600_000;
/** The longest that a receiver may ask for. */
const mostAskedMs = 86_400_000;
/** What needs people is tried again by itself too, in case that somebody else put it right. */
const pausedMs = 3_600_000;

/** How long to wait, in milliseconds; `random` is between 0 and 1. */
export interface Delays {
  /** After so many failures in a row, and at least as long as the receiver asks for. */
  retry(failures: number, random: number, askedMs?: number): number;
  /** While a channel is paused. */
  pause(random: number): number;
}

/** From 1 s to 10 min, and an hour. */
export const usualDelays: Delays = { retry: retryDelay, pause: pauseDelay };

function retryDelay(failures: number, random: number, askedMs = 0): number {
  const spread = 1 + random / 2;
  const base = Math.min(mostMs / 1.5, firstMs * 2 ** Math.min(failures - 1, 30));
  return Math.max(base * spread, Math.min(askedMs, mostAskedMs));
}

function pauseDelay(random: number): number {
  return pausedMs * (1 + random / 10);
}
