import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Sink } from './sink.ts';

/**
 * Takes an answer over as a stream of Server-Sent Events, with what every answer says in its head. `gone` is called once when
 * the connection is.
 */
export function openHttpSink(raw: ServerResponse, gone: () => void, headers: OutgoingHttpHeaders = {}): Sink {
  raw.writeHead(200, {
    ...headers,
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  });
  raw.write('retry: 2000\n\n');
  const { socket } = raw;
  const sink: Sink = {
    write(pieces) {
      const several = pieces.length > 1;
      if (several) raw.cork();
      for (const piece of pieces) raw.write(piece);
      if (several) raw.uncork();
      // What the socket says about itself and its event go together; those of the answer may not while it is corked.
      return socket?.writableNeedDrain !== true;
    },
    drained: () => undefined,
    end: () => void raw.end(),
    destroy: () => void raw.destroy(),
  };
  // A reader that left while it was admitted is reported at once.
  if (socket === null || socket.destroyed) setImmediate(gone);
  const drained = (): void => sink.drained();
  socket?.on('drain', drained);
  raw.once('close', () => {
    socket?.off('drain', drained);
    gone();
  });
  return sink;
}
