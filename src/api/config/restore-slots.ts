import type { FastifyRequest } from 'fastify';
import { Unavailable } from '../../model/errors.ts';
import { callOf } from '../authenticate.ts';
import { type Limiter, refuseIfLimited } from '../rate-limit.ts';

/**
 * Maximum number of archives that a server holds in memory, and the seconds after which a refused caller may try again.
 */
const maxRestores = 4;
const retrySeconds = 5;

/** Limits the archives in memory: one request per account, and a few in total. */
export interface RestoreSlots {
  /**
   * Takes a slot before the body is read, or refuses the request with 429. The slot is released when the request was
   * answered or aborted.
   */
  readonly take: Limiter;
  /** Runs the restore. Its slot is released only at the end, even if the client disconnects. */
  run<Value>(request: FastifyRequest, work: () => Promise<Value>): Promise<Value>;
}

/** Creates the slots of one server. */
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
      if (taken.has(account)) refuseIfLimited(reply, retrySeconds, 'a restore of this account is under way');
      if (taken.size >= maxRestores)
        refuseIfLimited(reply, retrySeconds, `${maxRestores} restores are under way on this server`);
      taken.set(account, request);
      for (const end of ['finish', 'close']) reply.raw.once(end, () => free(request));
    },
    run: async (request, work) => {
      // If the client disconnected before its body was complete, its slot may belong to another request by now.
      if (taken.get(callOf(request).account) !== request)
        throw new Unavailable('the client disconnected before its archive was read; nothing was written');
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
