/** How fast a bucket is filled, and how much it holds. */
export interface BucketSize {
  readonly perMinute: number;
  readonly burst: number;
}

interface Bucket {
  left: number;
  /** Milliseconds on a clock that only goes forward. */
  filledAt: number;
}

/** Counts what each caller takes; `now` is in milliseconds, on a clock that only goes forward. */
export interface Buckets {
  /** Takes one. Answers 0, or after how many seconds there is something to take again. */
  take(caller: string, now: number): number;
  /** Gives back what was taken. */
  giveBack(caller: string): void;
}

/** How many callers are remembered; a forgotten one begins again with a full bucket. */
const mostCallers = 100_000;

/** Creates buckets, all of one size; each begins full. */
export function createBuckets({ perMinute, burst }: BucketSize): Buckets {
  const buckets = new Map<string, Bucket>();
  return {
    take(caller, now) {
      const bucket = buckets.get(caller) ?? { left: burst, filledAt: now };
      bucket.left = Math.min(burst, bucket.left + ((now - bucket.filledAt) / 60_000) * perMinute);
      bucket.filledAt = now;
      // Put back at the end: the caller unheard of for longest is the first to be forgotten.
      buckets.delete(caller);
      buckets.set(caller, bucket);
      if (buckets.size > mostCallers) buckets.delete(buckets.keys().next().value ?? '');
      if (bucket.left < 1) return Math.ceil(((1 - bucket.left) / perMinute) * 60);
      bucket.left -= 1;
      return 0;
    },
    giveBack(caller) {
      const bucket = buckets.get(caller);
      if (bucket !== undefined) bucket.left = Math.min(burst, bucket.left + 1);
    },
  };
}
