import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/**
 * Lets a closing server end as soon as its last request is answered. Without this, it would wait until clients close
 * their kept-alive connections, which takes a minute or more.
 */
export function drainConnections(app: FastifyInstance): void {
  let closing = false;
  // Browsers and clients open connections in advance. A connection without any request is never idle, so nothing else
  // would close it.
  const unused = new Set<Socket>();
  app.server.on('connection', (socket: Socket) => {
    unused.add(socket);
    socket.once('close', () => unused.delete(socket));
  });
  app.server.on('request', ({ socket }: IncomingMessage) => unused.delete(socket));
  app.addHook('preClose', async () => {
    closing = true;
    for (const socket of unused) socket.destroy();
  });
  app.addHook('onSend', (_request, reply, payload, next) => {
    if (closing) void reply.header('connection', 'close');
    next(null, payload);
  });
  // An answer whose headers had already been sent did not contain `connection: close`.
  app.addHook('onResponse', (_request, _reply, next) => {
    if (closing) setImmediate(() => app.server.closeIdleConnections());
    next();
  });
}
