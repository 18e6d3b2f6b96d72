import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ErrorBody } from './errors.ts';

/** The body of a refusal that no exception stands behind. */
export function errorBody(code: number, message: string): ErrorBody {
  return { message, code };
}

/** Refuses paths that nothing is at, before a body is looked at. Says the same of an id that cannot be one. */
export function refuseUnknownPaths(app: FastifyInstance): void {
  app.setNotFoundHandler(refuseUnknown);
  app.addHook('onRequest', async (request, reply) =>
    request.is404 && request.refused === undefined ? refuseUnknown(request, reply) : undefined,
  );
}

/** The answer to a path that nothing is at. */
export function refuseUnknown(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const path = (request.url.split('?')[0] ?? '').slice(0, 200);
  return reply.code(404).send(errorBody(404, `${request.method} ${path} not found`));
}

/** Refuses what Node would answer without a body: no `Host`, an unknown `Expect`, and CONNECT. */
export function refuseMalformedRequests(app: FastifyInstance): void {
  app.addHook('onRequest', async ({ raw }, reply) => {
    if (raw.httpVersion !== '1.1' || raw.headers.host !== undefined) return undefined;
    return reply
      .code(400)
      .header('connection', 'close')
      .send(errorBody(400, 'the request has no `Host` header; send the name of the server'));
  });
  app.server.on('checkExpectation', (_request, response) => {
    const message = 'only `Expect: 100-continue` is understood; leave the header out';
    const body = JSON.stringify(errorBody(417, message));
    const length = Buffer.byteLength(body);
    // Whether a body follows is not known any more.
    const headers = {
      'content-type': 'application/json; charset=utf-8',
      'content-length': length,
      connection: 'close',
    };
    response.writeHead(417, headers).end(body);
  });
  app.server.on('connect', (_request, socket) => {
    hangUp(socket, {
      status: 405,
      reason: 'Method Not Allowed',
      message: 'this server is no proxy; CONNECT is not possible',
    });
  });
}

/** Answers what is not HTTP, in the one shape of errors, and hangs up. */
export function refuseBrokenRequest(error: Error & { readonly code?: string }, socket: Socket): void {
  if (error.code !== 'ECONNRESET' && socket.writable) {
    hangUp(socket, brokenRequest(error.code));
    return;
  }
  socket.destroy(error);
}

/** Answers on the bare socket and closes it behind that. */
function hangUp(socket: Duplex, { status, reason, message }: BrokenRequest): void {
  const body = JSON.stringify(errorBody(status, message));
  const head = `HTTP/1.1 ${status} ${reason}\r\nConnection: close\r\nContent-Type: application/json; charset=utf-8`;
  socket.write(`${head}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  socket.destroy();
}

interface BrokenRequest {
  readonly status: number;
  /** The text behind the status in the first line. */
  readonly reason: string;
  readonly message: string;
}

function brokenRequest(code: string | undefined): BrokenRequest {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { status: 408, reason: 'Request Timeout', message: 'the request took too long to arrive; send it again' };
    case 'HPE_HEADER_OVERFLOW':
      return {
        status: 431,
        reason: 'Request Header Fields Too Large',
        message: 'the headers are too large; send at most 16 KiB',
      };
    default:
      return {
        status: 400,
        reason: 'Bad Request',
        message: 'this is not an HTTP request; check what stands between client and server',
      };
  }
}
