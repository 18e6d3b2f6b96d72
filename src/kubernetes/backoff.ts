import { ApiError } from './errors.ts';

/** How long to wait after failures in a row: a random time up to a bound that doubles. */
export interface Backoff {
  readonly firstMs: number;
  readonly mostMs: number;
}

/** Unless said otherwise. */
export const plainBackoff: Backoff = { firstMs: 1000, mostMs: 30_000 };

/** An API server may put us off for so long at the most. */
const mostAskedMs = 300_000;

/** How long to wait after a failure, which may say how long at the least; `failures` were before it. */
export function pauseMs({ firstMs, mostMs }: Backoff, failures: number, error?: unknown): number {
  const least = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;
  return Math.min(least, mostAskedMs) + Math.random() * Math.min(mostMs, firstMs * 2 ** Math.min(failures, 20));
}
