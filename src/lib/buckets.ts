/** Refill rate of a token bucket, and its capacity. */
export interface BucketSize {
  readonly perMinute: number;
  readonly burst: number;
}

interface Bucket {
  tokens: number;
  /** Time of the last refill, in milliseconds on a monotonic clock. */
  filledAt: number;
}

/** Token buckets, one per caller. `now` is in milliseconds on a monotonic clock. */
export interface Buckets {
  /** Takes one token. Returns 0 on success, else the number of seconds until a token is available. */
  take(caller: string, now: number): number;
  /** Returns one token to the caller's bucket. */
  giveBack(caller: string): void;
}

/** Maximum number of callers to remember. A caller that was dropped starts again with a full bucket. */
const maxCallers = 100_000;

/** Creates buckets of the same size. Each starts full. */
export function createBuckets({ perMinute, burst }: BucketSize): Buckets {
  const buckets = new Map<string, Bucket>();
  return {
    take(caller, now) {
      const bucket = buckets.get(caller) ?? { tokens: burst, filledAt: now };
      bucket.tokens = Math.min(burst, bucket.tokens + ((now - bucket.filledAt) / 60_000) * perMinute);
      bucket.filledAt = now;
      // Moves the caller to the end of the map, so that the least recently seen caller is dropped first.
      buckets.delete(caller);
      buckets.set(caller, bucket);
      if (buckets.size > maxCallers) buckets.delete(buckets.keys().next().value ?? '');
      if (bucket.tokens < 1) return Math.ceil(((1 - bucket.tokens) / perMinute) * 60);
      bucket.tokens -= 1;
      return 0;
    },
    giveBack(caller) {
      const bucket = buckets.get(caller);
      if (bucket !== undefined) bucket.tokens = Math.min(burst, bucket.tokens + 1);
    },
  };
}
