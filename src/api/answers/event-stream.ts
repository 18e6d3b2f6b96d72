import { once } from 'node:events';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';

/** A message of a stream of Server-Sent Events. */
export interface Message {
  readonly id: string;
  readonly type: string;
  readonly data: unknown;
}

/** Time between two heartbeats, in milliseconds, so that proxies do not close a silent stream. */
const heartbeatMs = 15_000;

/** An open stream of Server-Sent Events. */
export interface EventStream {
  /** Aborted when the reader disconnected or the server stops. */
  readonly signal: AbortSignal;
  /**
   * Resolves when the messages were written to the connection and its buffer has room again, so that nothing is
   * buffered for a slow reader.
   */
  send(messages: readonly Message[]): Promise<void>;
  end(): void;
}

/** Takes over the reply from Fastify, and starts a stream of Server-Sent Events. */
export function openEventStream(reply: FastifyReply): EventStream {
  reply.hijack();
  const { raw } = reply;
  const ended = new AbortController();
  raw.writeHead(200, {
    // All headers that were set have text values.
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
  // The only failure is an abort, and the caller checks `signal`.
  await once(raw, 'drain', { signal }).catch(() => undefined);
}
