import type { Socket } from 'node:net';
import { Agent, buildConnector, type Dispatcher, errors } from 'undici';
import { codeOf } from '../lib/error-code.ts';
import type { AllowList } from '../lib/net/public-address.ts';
import { containsHost } from '../lib/net/public-address.ts';
import { certificateFault, type Trust } from './certificates.ts';
import type { OutboundDestination } from './checked-addresses.ts';
import { OutboundFailure } from './failure.ts';

/** A request to another host. */
export interface OutboundRequest extends Pick<OutboundDestination, 'namedBy'> {
  readonly url: URL;
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Maximum duration of the whole request, in milliseconds. */
  readonly timeoutMs?: number;
  /** Maximum size of the answer's body, in bytes. */
  readonly maxBytes?: number;
}

/** Answer of another host. */
export interface OutboundAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Buffer;
}

/** Settings that all requests of a client share. */
export interface ClientOptions {
  readonly allow: AllowList;
  readonly userAgent: string;
  readonly trust: Trust;
}

type Connect = (destination: OutboundDestination) => Promise<Socket>;

/** Sends HTTP requests to other hosts. */
export interface Client {
  send(request: OutboundRequest): Promise<OutboundAnswer>;
  close(): Promise<void>;
}

const defaultTimeoutMs = 30_000;
const defaultMaxBytes = 1024 * 1024;

/** Creates a client that opens its connections with `connect`, which checks every address. */
export function createClient(connect: Connect, { allow, userAgent, trust }: ClientOptions): Client {
  // The operator's and the users' requests use separate agents: a kept connection to a host that only the operator may
  // reach must not be reused for a user.
  const agents = {
    operator: createAgent(connect, 'operator', trust),
    user: createAgent(connect, 'user', trust),
  };
  return {
    async send(request) {
      refuseScheme(request, allow);
      return exchange(agents[request.namedBy], request, userAgent);
    },
    async close() {
      await Promise.all([agents.operator.destroy(), agents.user.destroy()]);
    },
  };
}

function createAgent(connect: Connect, namedBy: OutboundDestination['namedBy'], trust: Trust): Agent {
  const secure = buildConnector({ allowH2: false, ...trust });
  return new Agent({
    connections: 16,
    pipelining: 1,
    maxHeaderSize: 16 * 1024,
    connect: (options, done) => {
      const isSecure = options.protocol === 'https:';
      const port = Number(options.port) || (isSecure ? 443 : 80);
      connect({ host: options.hostname, port, namedBy }).then(
        // The certificate must still be valid for the host name, although the socket is connected to an address.
        (socket) => (isSecure ? secure({ ...options, httpSocket: socket }, done) : done(null, socket)),
        (error: Error) => done(error, null),
      );
    },
  });
}

/** Throws `OutboundFailure` unless the URL is https, or plain http to a host that the operator named or allowed. */
function refuseScheme({ url, namedBy }: OutboundRequest, allow: AllowList): void {
  if (url.protocol === 'https:') return;
  if (url.protocol === 'http:' && (namedBy === 'operator' || containsHost(allow, url.hostname))) return;
  const message = `${url.hostname} is given with ${url.protocol}//, and only https:// is allowed; the operator can allow plain http to this host with HEDDLE_OUTBOUND_ALLOW`;
  throw new OutboundFailure('refused', message);
}

async function exchange(agent: Agent, request: OutboundRequest, userAgent: string): Promise<OutboundAnswer> {
  const { url, method = 'GET', headers = {}, body, timeoutMs = defaultTimeoutMs, maxBytes = defaultMaxBytes } = request;
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const answer = await agent.request({
      ...{ origin: url.origin, path: `${url.pathname}${url.search}`, method, signal },
      headers: { 'user-agent': userAgent, ...headers },
      body: body ?? null,
    });
    if (answer.statusCode >= 300 && answer.statusCode < 400 && answer.statusCode !== 304) {
      // The rest of the answer is discarded, and errors while it arrives do not matter.
      answer.body.on('error', () => undefined).destroy();
      const message = `${url.host} answers with a redirect, which is not followed; write the address that it redirects to`;
      throw new OutboundFailure('redirected', message);
    }
    return {
      status: answer.statusCode,
      headers: answer.headers,
      body: await readBody(answer.body, maxBytes, url.host),
    };
  } catch (error) {
    throw failureOf(error, url.host, timeoutMs, signal);
  }
}

async function readBody(body: Dispatcher.ResponseData['body'], most: number, host: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    // undici delivers a body in Buffers.
    const bytes = chunk as Buffer;
    length += bytes.length;
    // Leaving the loop closes the connection.
    if (length > most) throw new OutboundFailure('too_large', `${host} answers with more than ${most} bytes`);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

function failureOf(error: unknown, host: string, timeoutMs: number, signal: AbortSignal): OutboundFailure {
  if (error instanceof OutboundFailure) return error;
  if (signal.aborted)
    return new OutboundFailure('timeout', `${host} did not answer within ${timeoutMs / 1000} s`, { cause: error });
  if (error instanceof errors.HeadersOverflowError)
    return new OutboundFailure('too_large', `${host} answers with headers that are too large`, { cause: error });
  const code = codeOf(error);
  const fault = certificateFault(code) ?? `does not answer as it should (${code ?? 'no reason given'})`;
  return new OutboundFailure('failed', `${host} ${fault}`, { cause: error });
}
