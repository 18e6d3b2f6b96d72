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

/**
 * One that says when to ask again is taken at its word, and the bound that is added does not double beyond this: a source
 * needs every kind to be answered, and one of twenty that waited half a minute more each time would hold up the others.
 */
const mostBeyondAskedMs = 4000;

/** How long to wait after a failure, which may say how long at the least; `failures` were before it. */
export function pauseMs({ firstMs, mostMs }: Backoff, failures: number, error?: unknown): number {
  const asked = error instanceof ApiError ? error.retryAfterMs : undefined;
  const most = asked === undefined ? mostMs : Math.min(mostMs, mostBeyondAskedMs);
  return Math.min(asked ?? 0, mostAskedMs) + Math.random() * Math.min(most, firstMs * 2 ** Math.min(failures, 20));
}
