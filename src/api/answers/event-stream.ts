import { once } from 'node:events';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';

/** One message of a stream of Server-Sent Events. */
export interface Message {
  readonly id: string;
  readonly type: string;
  readonly data: unknown;
}

/** How often a silent stream shows that it is alive, so that nothing in between gives it up. */
const heartbeatMs = 15_000;

/** A stream that is being sent. */
export interface EventStream {
  /** Aborted when the reader is gone or the server stops. */
  readonly signal: AbortSignal;
  /** Resolves when the reader has taken it, so that a slow one is never buffered for. */
  send(messages: readonly Message[]): Promise<void>;
  end(): void;
}

/** Takes the answer over as a stream of Server-Sent Events. */
export function openEventStream(reply: FastifyReply): EventStream {
  reply.hijack();
  const { raw } = reply;
  const ended = new AbortController();
  raw.writeHead(200, {
    // Of headers that were given a value, all are text.
    ...(reply.getHeaders() as OutgoingHttpHeaders),
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  });
  raw.write('retry: 2000\n\n');
  const heartbeat = setInterval(() => raw.write(':\n\n'), heartbeatMs);
  const stop = (): void => {
    clearInterval(heartbeat);
    ended.abort();
  };
  raw.on('close', stop);
  raw.on('error', stop);
  return {
    signal: ended.signal,
    async send(messages) {
      for (const message of messages) {
        if (ended.signal.aborted) return;
        if (!raw.write(textOf(message))) await drained(raw, ended.signal);
      }
    },
    end() {
      stop();
      raw.end();
    },
  };
}

function textOf({ id, type, data }: Message): string {
  return `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}

async function drained(raw: ServerResponse, signal: AbortSignal): Promise<void> {
  // The only failure is the end of the stream, which the caller looks for.
  await once(raw, 'drain', { signal }).catch(() => undefined);
}
