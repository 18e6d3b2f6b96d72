import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Engine } from '../../commit/engine.ts';
import { type AccountWatch, createAccountWatch } from '../../features/logs/account-watch.ts';
import { HeddleError } from '../../model/errors.ts';
import { type EventStream, openEventStream } from './event-stream.ts';

/** Event streams about accounts. They end when the server stops. */
export interface AccountStreams {
  /** Starts a stream as the answer to a request. `follow` sends the events on it. */
  open(reply: FastifyReply): EventStream;
  /**
   * Calls `sendNew` immediately and after each revision of the account, until the stream ends. A `HeddleError` of
   * `sendNew` ends the stream: the status was already sent, and a reader that connects again gets the error.
   */
  follow(stream: EventStream, account: string, sendNew: () => Promise<void>): Promise<void>;
}

/** Creates the streams of one area. */
export function createAccountStreams(app: FastifyInstance, engine: Engine): AccountStreams {
  const watch = createAccountWatch(engine);
  const streams = new Set<EventStream>();
  app.addHook('preClose', async () => {
    for (const stream of streams) stream.end();
    watch.close();
  });
  return {
    open(reply) {
      const stream = openEventStream(reply);
      streams.add(stream);
      return stream;
    },
    async follow(stream, account, sendNew) {
      try {
        await followRevisions(watch, account, stream, sendNew);
      } catch (error) {
        if (!(error instanceof HeddleError)) throw error;
      } finally {
        streams.delete(stream);
        stream.end();
      }
    },
  };
}

async function followRevisions(
  watch: AccountWatch,
  account: string,
  stream: EventStream,
  sendNew: () => Promise<void>,
): Promise<void> {
  let wake = (): void => undefined;
  let isMoved = true;
  const unfollow = watch.follow(account, {
    wake() {
      isMoved = true;
      wake();
    },
    gone: () => stream.end(),
  });
  stream.signal.addEventListener('abort', () => wake());
  try {
    while (!stream.signal.aborted) {
      isMoved = false;
      await sendNew();
      if (isMoved || stream.signal.aborted) continue;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  } finally {
    unfollow();
  }
}
