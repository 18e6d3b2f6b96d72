import type { FastifyReply, FastifyRequest } from 'fastify';
import { Unauthenticated } from '../model/errors.ts';
import type { RateLimit } from '../model/means.ts';
import { callOf } from './authenticate.ts';

/** A caller that asked too often. */
class TooManyRequests extends Error {
  readonly statusCode = 429;
}

/** Lets a request pass, or refuses it with 429 and says when to come back. */
export type Limiter = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

interface Bucket {
  left: number;
  /** Milliseconds on a clock that only goes forward. */
  filledAt: number;
}

/** How many callers are remembered; a forgotten one begins anew with a full bucket. */
const mostCallers = 100_000;

/** Counts what each caller takes. Answers 0, or after how many seconds there is something to take again. */
function createBuckets({ perMinute, burst }: RateLimit, now: () => number): (caller: string) => number {
  const buckets = new Map<string, Bucket>();
  return (caller) => {
    const bucket = buckets.get(caller) ?? { left: burst, filledAt: now() };
    const time = now();
    bucket.left = Math.min(burst, bucket.left + ((time - bucket.filledAt) / 60_000) * perMinute);
    bucket.filledAt = time;
    // Put back at the end: the caller unheard of for longest is the first to be forgotten.
    buckets.delete(caller);
    buckets.set(caller, bucket);
    if (buckets.size > mostCallers) buckets.delete(buckets.keys().next().value ?? '');
    if (bucket.left < 1) return Math.ceil(((1 - bucket.left) / perMinute) * 60);
    bucket.left -= 1;
    return 0;
  };
}

/**
 * Counts requests per caller: the user of an authenticated one, else the address. The counts are this process's own. Runs
 * after authentication.
 */
export function createRateLimit(limit: RateLimit, now: () => number = () => performance.now()): Limiter {
  const take = createBuckets(limit, now);
  return async (request, reply) => {
    if (!request.url.startsWith('/api')) return;
    refuse(reply, limit, take(request.call?.actor.id ?? request.ip), 'requests');
  };
}

/**
 * Counts requests that come without good credentials, per address: guessing is slow, and whoever has good ones is not held
 * up by a neighbour who guesses.
 */
export function limitStrangers(
  limit: RateLimit,
  authenticate: (request: FastifyRequest) => Promise<void>,
  now: () => number = () => performance.now(),
): Limiter {
  const take = createBuckets(limit, now);
  return async (request, reply) => {
    try {
      await authenticate(request);
    } catch (error) {
      if (error instanceof Unauthenticated) refuse(reply, limit, take(request.ip), 'requests without good credentials');
      throw error;
    }
  };
}

/** Counts what makes a plan, per account: planning is the most that one request can ask for. */
export function createPlanLimit(limit: RateLimit | 'off', now: () => number = () => performance.now()): Limiter {
  if (limit === 'off') return async () => {};
  const take = createBuckets(limit, now);
  return async (request, reply) => refuse(reply, limit, take(callOf(request).account), 'plans of this account');
}

function refuse(reply: FastifyReply, { perMinute, burst }: RateLimit, seconds: number, what: string): void {
  if (seconds === 0) return;
  void reply.header('retry-after', String(seconds));
  throw new TooManyRequests(
    `too many ${what}: ${perMinute} a minute and ${burst} at once are allowed; try again in ${seconds} s`,
  );
}
