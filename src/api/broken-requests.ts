import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import type { FastifyHttpOptions, FastifyInstance, FastifyRequest } from 'fastify';
import { type AccessLine, lineOfBroken, logEnd } from './access-log.ts';
import { requestId } from './headers.ts';
import { errorBody, refuseUnknown } from './refusals.ts';

/** Answers what never becomes a request of the framework, in the one shape of errors, with a line of the log for each. */
export interface BrokenRequests {
  /** Of Fastify: for paths that cannot be decoded, and for what is not HTTP. */
  readonly handlers: Required<Pick<FastifyHttpOptions<Server>, 'frameworkErrors' | 'clientErrorHandler'>>;
  /** Called before other hooks are added. Answers what Node would answer without a body: an unknown `Expect`, and CONNECT. */
  watch(app: FastifyInstance): void;
}

/** `write` takes the lines. */
export function refuseBrokenRequests(write: (line: AccessLine) => void): BrokenRequests {
  // A body may turn out to be broken when its request is under way already, which has a line of its own.
  const underWay = new WeakMap<Duplex, FastifyRequest>();
  const refuse = (socket: Duplex, refusal: Refusal, message?: IncomingMessage): void => {
    const request = underWay.get(socket);
    const id = request?.id ?? requestId(message ?? { headers: {} });
    if (request === undefined) write(lineOfBroken(id, refusal, message));
    else request.brokenBy = refusal;
    hangUp(socket, refusal, id);
  };
  return {
    handlers: {
      frameworkErrors: (_error, request, reply) => {
        logEnd(request, reply, write);
        return refuseUnknown(request, reply);
      },
      clientErrorHandler: (error, socket) => {
        if (error.code !== 'ECONNRESET' && socket.writable) refuse(socket, refusalOf(error.code));
        else socket.destroy(error);
      },
    },
    watch(app) {
      app.decorateRequest('brokenBy', undefined);
      // At once: what is wrong with a body may have come with its headers.
      app.addHook('onRequest', (request, reply, next) => {
        const { socket } = request.raw;
        underWay.set(socket, request);
        reply.raw.once('close', () => underWay.delete(socket));
        next();
      });
      // Whether a body follows is not known any more.
      app.server.on('checkExpectation', (message) => refuse(message.socket, unknownExpectation, message));
      app.server.on('connect', (message, socket) => refuse(socket, noProxy, message));
    },
  };
}

/** Refuses requests without a `Host`, which Node would answer without a body. */
export function refuseMissingHosts(app: FastifyInstance): void {
  app.addHook('onRequest', async ({ raw }, reply) => {
    if (raw.httpVersion !== '1.1' || raw.headers.host !== undefined) return undefined;
    return reply
      .code(400)
      .header('connection', 'close')
      .send(errorBody(400, 'the request has no `Host` header; send the name of the server'));
  });
}

/** Answers on the bare socket and closes it behind that. */
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

/** Why a request was not carried out. */
export interface Refusal {
  readonly status: number;
  /** The text behind the status in the first line. */
  readonly reason: string;
  readonly message: string;
  /** What the parser calls it; absent: it could be read. */
  readonly code?: string;
}

const unknownExpectation: Refusal = {
  ...{ status: 417, reason: 'Expectation Failed' },
  message: 'only `Expect: 100-continue` is understood; leave the header out',
};

const noProxy: Refusal = {
  ...{ status: 405, reason: 'Method Not Allowed' },
  message: 'this server is no proxy; CONNECT is not possible',
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
        message: 'this is not an HTTP request; check what stands between client and server',
      };
  }
}
