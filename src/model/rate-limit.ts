/** Rate limit per caller. It is refilled evenly over the minute; `burst` requests are allowed at once. */
export interface RateLimit {
  readonly perMinute: number;
  readonly burst: number;
}
