import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, vi } from 'vitest';
import { openHttpSink } from '../../src/features/peers/streams/http-sink.ts';
import { eventChunks, keepAlive, type Sink } from '../../src/features/peers/streams/sink.ts';
import { readEvents } from './follower.ts';

/** Starts a server with one stream, and a client that reads it. */
async function opened() {
  const gone = vi.fn();
  let sink: Sink | undefined;
  const server = createServer((_request, response: ServerResponse) => {
    sink = openHttpSink(response, gone);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const controller = new AbortController();
  const { port } = server.address() as AddressInfo;
  const response = await fetch(`http://127.0.0.1:${port}/`, { signal: controller.signal });
  await expect.poll(() => sink).toBeDefined();
  return {
    response,
    reader: (response.body as ReadableStream<Uint8Array>).getReader(),
    // Set, because the poll above waited for it.
    sink: sink as Sink,
    gone,
    cut: () => controller.abort(),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

it('a stream over HTTP carries events in chunks, comments between them, and an end', async () => {
  await using stream = await opened();
  expect(stream.response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  expect(stream.sink.write(eventChunks({ type: 'map', id: '4.ab' }, '"a":1', Buffer.from('"b":"ü"')))).toBe(true);
  stream.sink.write([keepAlive]);
  stream.sink.write(eventChunks({ type: 'end' }, '"reason":"deleted"'));
  stream.sink.end();
  let text = '';
  for (let part = await stream.reader.read(); !part.done; part = await stream.reader.read())
    text += Buffer.from(part.value).toString();
  expect(readEvents(text)).toEqual([
    { type: 'map', id: '4.ab', data: { a: 1, b: 'ü' } },
    { type: 'end', data: { reason: 'deleted' } },
  ]);
  await expect.poll(() => stream.gone).toHaveBeenCalledTimes(1);
});

it('a stream over HTTP reports when its reader lags, and when it has caught up', async () => {
  await using stream = await opened();
  const drained = vi.fn();
  stream.sink.onDrain = drained;
  const piece = Buffer.alloc(1_000_000, ' ');
  let kept = true;
  for (let at = 0; at < 100 && kept; at++) kept = stream.sink.write([':', piece, '\n\n']);
  expect([kept, drained.mock.calls.length]).toEqual([false, 0]);
  const reading = (async () => {
    for (let part = await stream.reader.read(); !part.done; part = await stream.reader.read());
  })().catch(() => undefined);
  await expect.poll(() => drained).toHaveBeenCalled();
  stream.cut();
  await reading;
  await expect.poll(() => stream.gone).toHaveBeenCalledTimes(1);
});
