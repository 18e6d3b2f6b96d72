import type { FastifyReply, FastifyRequest } from 'fastify';
import { createBuckets } from '../lib/buckets.ts';
import { neighbourhoodOf } from '../lib/net/address.ts';
import { Unauthenticated } from '../model/errors.ts';
import type { RateLimit } from '../model/rate-limit.ts';
import { callOf } from './authenticate.ts';
import { pathOf } from './other-methods.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route counts requests itself. */
    ownRate?: true;
  }
}

/** A caller that asked too often. */
class TooManyRequests extends Error {
  readonly statusCode = 429;
}

/** Lets a request pass, or refuses it with 429 and says when to come back. */
export type Limiter = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

/**
 * Counts requests per caller: the user of an authenticated one, else the address. The counts are this process's own. Runs
 * after authentication.
 */
export function createRateLimit(limit: RateLimit, now: () => number = () => performance.now()): Limiter {
  const buckets = createBuckets(limit);
  return async (request, reply) => {
    if (request.routeOptions.config.ownRate === true) return;
    // The route and not the address as it was written: `/%61pi` leads to the same one.
    if (!(pathOf(request) ?? request.url).startsWith('/api')) return;
    refuse(reply, limit, buckets.take(request.call?.actor.id ?? neighbourhoodOf(request.ip), now()), 'requests');
  };
}

/**
 * Counts requests without valid credentials per address: guessing is slow, and callers with valid credentials are not
 * delayed by others behind the same address.
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
        refuse(reply, limit, buckets.take(neighbourhoodOf(request.ip), now()), 'requests without good credentials');
      throw error;
    }
  };
}

/** What is answered in place of a failure: the failure itself, or that there were too many. */
export type FailureLimit = (request: FastifyRequest, reply: FastifyReply, error: unknown, status: number) => unknown;

/**
 * Counts failures of machines and proxies per address. A failed request does not show whose it is; machines behind the
 * same address that succeed are not delayed.
 */
export function createFailureLimit(limit: RateLimit, now: () => number = () => performance.now()): FailureLimit {
  const buckets = createBuckets(limit);
  return (request, reply, error, status) => {
    const isOfMachine = /^\/(agent|proxy)\//.test(request.routeOptions.url ?? '');
    if (!isOfMachine || status < 400 || status >= 500 || status === 429) return error;
    try {
      refuse(reply, limit, buckets.take(neighbourhoodOf(request.ip), now()), 'requests that failed');
    } catch (tooMany) {
      return tooMany;
    }
    return error;
  };
}

/** Counts requests per address, for routes that are open to strangers. */
export function createAddressLimit(limit: RateLimit, now: () => number = () => performance.now()): Limiter {
  const buckets = createBuckets(limit);
  return async (request, reply) => refuse(reply, limit, buckets.take(neighbourhoodOf(request.ip), now()), 'requests');
}

/** Counts what makes a plan, per account: planning is the most that one request can ask for. */
export function createPlanLimit(limit: RateLimit | 'off', now: () => number = () => performance.now()): Limiter {
  if (limit === 'off') return async () => {};
  const buckets = createBuckets(limit);
  return async (request, reply) =>
    refuse(reply, limit, buckets.take(callOf(request).account, now()), 'plans of this account');
}

function refuse(reply: FastifyReply, { perMinute, burst }: RateLimit, seconds: number, what: string): void {
  refuseFor(reply, seconds, `too many ${what}: ${perMinute} a minute and ${burst} at once are allowed`);
}

/** Refuses with 429 for so many seconds; 0 lets pass. */
export function refuseFor(reply: FastifyReply, seconds: number, why: string): void {
  if (seconds === 0) return;
  void reply.header('retry-after', String(seconds));
  throw new TooManyRequests(`${why}; try again in ${seconds} s`);
}
