import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RateLimit } from '../model/means.ts';

/** A caller that asked too often. */
class TooManyRequests extends Error {
  readonly statusCode = 429;
}

interface Bucket {
  left: number;
  /** Milliseconds on a clock that only goes forward. */
  filledAt: number;
}

/** How many callers are remembered; a forgotten one begins anew with a full bucket. */
const mostCallers = 100_000;

/**
 * Counts requests per caller: the user of an authenticated one, else the address. The counts are this process's own. Runs
 * after authentication; refuses with 429 and says when to come back.
 */
export function createRateLimit({ perMinute, burst }: RateLimit, now: () => number = () => performance.now()) {
  const buckets = new Map<string, Bucket>();
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    if (!request.url.startsWith('/api')) return;
    const caller = request.call?.actor.id ?? request.ip;
    const bucket = buckets.get(caller) ?? { left: burst, filledAt: now() };
    const time = now();
    bucket.left = Math.min(burst, bucket.left + ((time - bucket.filledAt) / 60_000) * perMinute);
    bucket.filledAt = time;
    // Put back at the end: the caller unheard of for longest is the first to be forgotten.
    buckets.delete(caller);
    buckets.set(caller, bucket);
    if (buckets.size > mostCallers) buckets.delete(buckets.keys().next().value ?? '');
    if (bucket.left < 1) {
      const seconds = Math.ceil(((1 - bucket.left) / perMinute) * 60);
      void reply.header('retry-after', String(seconds));
      throw new TooManyRequests(
        `too many requests: ${perMinute} a minute and ${burst} at once are allowed; try again in ${seconds} s`,
      );
    }
    bucket.left -= 1;
  };
}
