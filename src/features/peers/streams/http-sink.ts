import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Sink } from './sink.ts';

/**
 * Turns an HTTP response into a stream of Server-Sent Events, with `headers` that every answer has. `gone` is called
 * once, when the connection is closed.
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
      // The socket's `writableNeedDrain` matches its `drain` event. The response's own value may not match while it is
      // corked.
      return socket?.writableNeedDrain !== true;
    },
    onDrain: () => undefined,
    end: () => void raw.end(),
    destroy: () => void raw.destroy(),
  };
  // Calls `gone` at once for a reader that disconnected while it was admitted.
  if (socket === null || socket.destroyed) setImmediate(gone);
  const drained = (): void => sink.onDrain();
  socket?.on('drain', drained);
  raw.once('close', () => {
    socket?.off('drain', drained);
    gone();
  });
  return sink;
}
