import { ApiError } from './errors.ts';

/**
 * Pause after consecutive failures: a random time up to a bound. The bound starts at `firstMs` and doubles up to
 * `maxMs`.
 */
export interface Backoff {
  readonly firstMs: number;
  readonly maxMs: number;
}

/** Default backoff. */
export const defaultBackoff: Backoff = { firstMs: 1000, maxMs: 30_000 };

/** Maximum pause that an API server may request, in milliseconds. */
const maxRetryAfterMs = 300_000;

/**
 * Maximum of the random part when the API server states a pause (`Retry-After`), in milliseconds. The stated pause is
 * respected, and this part is kept small: a source needs an answer for every kind, and if one of twenty kinds waited
 * half a minute more each time, it would delay all of them.
 */
const maxRetryAfterJitterMs = 4000;

/**
 * Returns the pause after a failure, in milliseconds. `failures` is the number of consecutive failures before it. The
 * error may state a minimum.
 */
export function pauseMs({ firstMs, maxMs }: Backoff, failures: number, error?: unknown): number {
  const asked = error instanceof ApiError ? error.retryAfterMs : undefined;
  const most = asked === undefined ? maxMs : Math.min(maxMs, maxRetryAfterJitterMs);
  return Math.min(asked ?? 0, maxRetryAfterMs) + Math.random() * Math.min(most, firstMs * 2 ** Math.min(failures, 20));
}
