/** How many requests one caller may make: refilled evenly over the minute, up to `burst` at once. */
export interface RateLimit {
  readonly perMinute: number;
  readonly burst: number;
}
