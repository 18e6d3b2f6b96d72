import type { FastifyReply, FastifyRequest } from 'fastify';
import { createBuckets } from '../lib/buckets.ts';
import { clientNetworkOf } from '../lib/net/address.ts';
import { Unauthenticated } from '../model/errors.ts';
import type { RateLimit } from '../model/rate-limit.ts';
import { callOf } from './authenticate.ts';
import { pathOf } from './other-methods.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route has its own rate limit. */
    ownRate?: true;
  }
}

/** The caller exceeded a rate limit. */
class TooManyRequests extends Error {
  readonly statusCode = 429;
}

/** Lets a request pass, or refuses it with 429 and `Retry-After`. */
export type Limiter = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

/**
 * Limits requests per caller: per user for authenticated requests, otherwise per address. Each process counts
 * separately. Must run after authentication.
 */
export function createRateLimit(limit: RateLimit, now: () => number = () => performance.now()): Limiter {
  const buckets = createBuckets(limit);
  return async (request, reply) => {
    if (request.routeOptions.config.ownRate === true) return;
    // Compares the route instead of the URL as it was written: `/%61pi` leads to the same route.
    if (!(pathOf(request) ?? request.url).startsWith('/api')) return;
    refuse(reply, limit, buckets.take(request.call?.actor.id ?? clientNetworkOf(request.ip), now()), 'requests');
  };
}

/**
 * Limits requests without valid credentials, per address. This slows down guessing, and does not delay callers with
 * valid credentials behind the same address.
 */
export function limitAnonymous(
  limit: RateLimit,
  authenticate: (request: FastifyRequest) => Promise<void>,
  now: () => number = () => performance.now(),
): Limiter {
  const buckets = createBuckets(limit);
  return async (request, reply) => {
    try {
      await authenticate(request);
    } catch (error) {
      if (error instanceof Unauthenticated)
        refuse(reply, limit, buckets.take(clientNetworkOf(request.ip), now()), 'requests without valid credentials');
      throw error;
    }
  };
}

/** Returns the error to answer with: the given failure, or a 429 when there were too many failures. */
export type FailureLimit = (request: FastifyRequest, reply: FastifyReply, error: unknown, status: number) => unknown;

/**
 * Limits failed requests of agents and reverse proxies, per address. A failed request does not reveal which machine
 * sent it. Machines behind the same address are not delayed as long as their requests succeed.
 */
export function createFailureLimit(limit: RateLimit, now: () => number = () => performance.now()): FailureLimit {
  const buckets = createBuckets(limit);
  return (request, reply, error, status) => {
    const isOfMachine = /^\/(agent|proxy)\//.test(request.routeOptions.url ?? '');
    if (!isOfMachine || status < 400 || status >= 500 || status === 429) return error;
    try {
      refuse(reply, limit, buckets.take(clientNetworkOf(request.ip), now()), 'failed requests');
    } catch (tooMany) {
      return tooMany;
    }
    return error;
  };
}

/** Limits requests per address, for routes that are open to strangers. */
export function createAddressLimit(limit: RateLimit, now: () => number = () => performance.now()): Limiter {
  const buckets = createBuckets(limit);
  return async (request, reply) => refuse(reply, limit, buckets.take(clientNetworkOf(request.ip), now()), 'requests');
}

/**
 * Limits requests that make a plan, per account: planning is the most expensive work that a single request can cause.
 */
export function createPlanLimit(limit: RateLimit | 'off', now: () => number = () => performance.now()): Limiter {
  if (limit === 'off') return async () => {};
  const buckets = createBuckets(limit);
  return async (request, reply) =>
    refuse(reply, limit, buckets.take(callOf(request).account, now()), 'plans of this account');
}

function refuse(reply: FastifyReply, { perMinute, burst }: RateLimit, seconds: number, what: string): void {
  refuseIfLimited(reply, seconds, `too many ${what}: ${perMinute} a minute and ${burst} at once are allowed`);
}

/** Refuses a request with 429 and the seconds after which to try again. Lets it pass for 0 seconds. */
export function refuseIfLimited(reply: FastifyReply, seconds: number, why: string): void {
  if (seconds === 0) return;
  void reply.header('retry-after', String(seconds));
  throw new TooManyRequests(`${why}; try again in ${seconds} s`);
}
