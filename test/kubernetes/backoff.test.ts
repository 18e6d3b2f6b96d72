import { describe, expect, test, vi } from 'vitest';
import { defaultBackoff, pauseMs } from '../../src/kubernetes/backoff.ts';
import { ApiError, Unreachable } from '../../src/kubernetes/errors.ts';

const busy = (retryAfterMs?: number) =>
  new ApiError({ status: 429, reason: 'TooManyRequests', message: 'later', retryAfterMs });

describe('the longest pause after consecutive failures', () => {
  test.each([
    ['doubles up to half a minute where nobody answers', new Unreachable('gone'), [1000, 2000, 4000, 8000, 30_000]],
    ['doubles as far where a refusal names no time', busy(), [1000, 2000, 4000, 8000, 30_000]],
    ['ends soon after the time that a refusal names', busy(2000), [3000, 4000, 6000, 6000, 6000]],
    ['is five minutes and a little, whatever a refusal names', busy(86_400_000), [301_000, 302_000, 304_000]],
  ])('%s', (_, error, expected) => {
    vi.spyOn(Math, 'random').mockReturnValue(1);
    const failures = [0, 1, 2, 3, 40].slice(0, expected.length);
    expect(failures.map((count) => pauseMs(defaultBackoff, count, error))).toEqual(expected);
    vi.restoreAllMocks();
  });
});
