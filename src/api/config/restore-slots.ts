import type { FastifyRequest } from 'fastify';
import { Unavailable } from '../../model/errors.ts';
import { callOf } from '../authenticate.ts';
import { type Limiter, refuseFor } from '../rate-limit.ts';

/** How many archives a server keeps in memory at once, and how soon a refused caller may try again. */
const most = 4;
const retrySeconds = 5;

/** Who may have an archive in memory: one request of each account, and few of all. */
export interface RestoreSlots {
  /** Takes a slot before the body is read, or refuses with 429. It is free when the request was answered or broke off. */
  readonly take: Limiter;
  /** Runs the restore; its slot is not free before the end, even if the client leaves. */
  run<Value>(request: FastifyRequest, work: () => Promise<Value>): Promise<Value>;
}

/** Makes the slots of one server. */
export function createRestoreSlots(): RestoreSlots {
  const taken = new Map<string, FastifyRequest>();
  const running = new WeakSet<FastifyRequest>();
  const free = (request: FastifyRequest): void => {
    const { account } = callOf(request);
    if (taken.get(account) === request && !running.has(request)) taken.delete(account);
  };
  return {
    take: async (request, reply) => {
      const { account } = callOf(request);
      if (taken.has(account)) refuseFor(reply, retrySeconds, 'a restore of this account is under way');
      if (taken.size >= most) refuseFor(reply, retrySeconds, `${most} restores are under way on this server`);
      taken.set(account, request);
      for (const end of ['finish', 'close']) reply.raw.once(end, () => free(request));
    },
    run: async (request, work) => {
      // The slot of a client that left while its request was looked at may be another one's by now.
      if (taken.get(callOf(request).account) !== request)
        throw new Unavailable('the client left before its archive was read; nothing was written');
      running.add(request);
      try {
        return await work();
      } finally {
        running.delete(request);
        free(request);
      }
    },
  };
}
