import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import type { FastifyHttpOptions, FastifyInstance, FastifyRequest } from 'fastify';
import { type AccessLine, lineOfBrokenRequest, logWhenEnded } from './access-log.ts';
import { requestId } from './headers.ts';
import { errorBody, refuseUnknown } from './refusals.ts';

/**
 * Answers messages that never become a request of the framework. Each gets an answer in the usual shape of errors, and
 * a log line.
 */
export interface BrokenRequests {
  /** Options for Fastify. They handle paths that cannot be decoded, and messages that are not HTTP. */
  readonly handlers: Required<Pick<FastifyHttpOptions<Server>, 'frameworkErrors' | 'clientErrorHandler'>>;
  /**
   * Must be called before other hooks are added. Also answers an unknown `Expect` and CONNECT, which Node would answer
   * without a body.
   */
  watch(app: FastifyInstance): void;
}

/** Creates the handlers. `write` receives the log lines. */
export function createBrokenRequestHandlers(write: (line: AccessLine) => void): BrokenRequests {
  // A body may turn out to be malformed after its request has started. The line of that request reports it.
  const underWay = new WeakMap<Duplex, FastifyRequest>();
  const refuse = (socket: Duplex, refusal: Refusal, message?: IncomingMessage): void => {
    const request = underWay.get(socket);
    const id = request?.id ?? requestId(message ?? { headers: {} });
    if (request === undefined) write(lineOfBrokenRequest(id, refusal, message));
    else request.brokenBy = refusal;
    hangUp(socket, refusal, id);
  };
  return {
    handlers: {
      frameworkErrors: (_error, request, reply) => {
        logWhenEnded(request, reply, { write, includesDebug: true });
        return refuseUnknown(request, reply);
      },
      clientErrorHandler: (error, socket) => {
        if (error.code !== 'ECONNRESET' && socket.writable) refuse(socket, refusalOf(error.code));
        else socket.destroy(error);
      },
    },
    watch(app) {
      app.decorateRequest('brokenBy', undefined);
      // Registered synchronously: the parser may find the fault of a body in the same packet as the headers.
      app.addHook('onRequest', (request, reply, next) => {
        const { socket } = request.raw;
        underWay.set(socket, request);
        reply.raw.once('close', () => underWay.delete(socket));
        next();
      });
      // The connection must be closed: the server cannot tell whether the client sends the body.
      app.server.on('checkExpectation', (message) => refuse(message.socket, unknownExpectation, message));
      app.server.on('connect', (message, socket) => refuse(socket, noProxy, message));
    },
  };
}

/**
 * Refuses requests without a `Host`, which Node would answer without a body, and with several: a proxy in front may
 * read another one than this server.
 */
export function refuseBadHosts(app: FastifyInstance): void {
  app.addHook('onRequest', async ({ raw }, reply) => {
    const fault = hostFault(raw);
    if (fault === undefined) return undefined;
    return reply.code(400).header('connection', 'close').send(errorBody(400, fault));
  });
}

function hostFault({ httpVersion, rawHeaders }: IncomingMessage): string | undefined {
  // Names and values take turns.
  const hosts = rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host').length;
  if (hosts > 1) return 'the request has several `Host` headers; send one';
  return hosts === 0 && httpVersion === '1.1'
    ? 'the request has no `Host` header; send the name of the server'
    : undefined;
}

/** Writes an answer directly to the socket, and closes the connection. */
function hangUp(socket: Duplex, { status, reason, message }: Refusal, id: string): void {
  const body = JSON.stringify(errorBody(status, message));
  const head = [
    `HTTP/1.1 ${status} ${reason}`,
    'Connection: close',
    'Content-Type: application/json; charset=utf-8',
    `X-Request-Id: ${id}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  socket.destroy();
}

/** Answer to a message that did not become a request. */
export interface Refusal {
  readonly status: number;
  /** Reason phrase after the status in the status line. */
  readonly reason: string;
  readonly message: string;
  /** Error code of the HTTP parser. Absent: the message could be parsed. */
  readonly code?: string;
}

const unknownExpectation: Refusal = {
  ...{ status: 417, reason: 'Expectation Failed' },
  message: 'only `Expect: 100-continue` is supported; leave the header out',
};

const noProxy: Refusal = {
  ...{ status: 405, reason: 'Method Not Allowed' },
  message: 'this server is not a proxy; CONNECT is not possible',
};

function refusalOf(code = 'unknown'): Refusal {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return {
        ...{ status: 408, reason: 'Request Timeout', code },
        message: 'the request took too long to arrive; send it again',
      };
    case 'HPE_HEADER_OVERFLOW':
      return {
        ...{ status: 431, reason: 'Request Header Fields Too Large', code },
        message: 'the headers are too large; send at most 16 KiB',
      };
    default:
      return {
        ...{ status: 400, reason: 'Bad Request', code },
        message: 'this is not an HTTP request; check the proxies between client and server',
      };
  }
}
