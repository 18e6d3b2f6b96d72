import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Context, runInContext } from '../telemetry/context.ts';
import type { Span, Tracer } from '../telemetry/span.ts';
import { pathOf } from './other-methods.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Context in which the request is handled. */
    context: Context | undefined;
    /** Whether the caller is the operator of the server, who belongs to no account. */
    byOperator: boolean;
    /** Set when the body was malformed and the answer was written directly to the socket. */
    brokenBy: BrokenRequest | undefined;
  }
}

/** Line of the access log about one request. */
export type AccessLine = {
  /**
   * `debug` for requests that only read, and for requests that peers send many times a minute. `info` for all others,
   * and for refused requests.
   */
  readonly level: 'debug' | 'info';
  readonly message: string;
  readonly request_id: string;
  /** Absent, like the path, when the request could not be parsed. */
  readonly method: string | undefined;
  /** Path without the query. Parts that may be secrets are masked. */
  readonly path: string | undefined;
  /** Path as the interface describes it. Absent when no route has the path. */
  readonly route: string | undefined;
  /** Absent when the client disconnected before the answer. */
  readonly status: number | undefined;
  /** Absent when the request was refused before it was handled. */
  readonly duration_ms: number | undefined;
  /** Id of the caller. Absent when the caller is not authenticated. */
  readonly actor: string | undefined;
  readonly account: string | undefined;
  /** Id of the trace of the request. Absent: the request is not traced. */
  readonly trace_id: string | undefined;
};

/** Destination of access lines. */
export interface AccessLog {
  write(line: AccessLine): void;
  /** Whether lines of the level `debug` are wanted. A line takes 5 % of the time of reading an object. */
  readonly includesDebug: boolean;
}

/**
 * Runs every request in its own context, with a span if there is a tracer, and writes a log line when the request has
 * ended.
 */
export function addAccessLog(app: FastifyInstance, log: AccessLog, tracer: Tracer | undefined): void {
  app.decorateRequest('context', undefined);
  app.decorateRequest('byOperator', false);
  app.addHook('onRequest', (request, reply, next) => {
    const span = tracer && beginSpan(tracer, request);
    request.context = { requestId: request.id, ...(span === undefined ? {} : { span }) };
    logWhenEnded(request, reply, log);
    runInContext(request.context, next);
  });
  // The events of the body arrive in the context of the connection, so the context of the request is set again.
  app.addHook('preValidation', (request, _reply, next) => runInContext(request.context ?? {}, next));
}

/** Writes the log line of a request when it was answered, or when its client disconnected. */
export function logWhenEnded(request: FastifyRequest, reply: FastifyReply, log: AccessLog): void {
  reply.raw.once('close', () => {
    const { span } = request.context ?? {};
    const status = request.brokenBy?.status ?? (reply.raw.headersSent ? reply.raw.statusCode : undefined);
    const level = levelOf(request, status);
    const isWritten = level !== 'debug' || log.includesDebug;
    if (!isWritten && span === undefined) return;
    const line = lineOf(request, reply, { level, status });
    if (span !== undefined) endSpan(span, line);
    if (isWritten) log.write(line);
  });
}

function levelOf(request: FastifyRequest, status: number | undefined): AccessLine['level'] {
  const isQuiet = quietMethods.includes(request.method) || pathOf(request)?.startsWith('/agent/') === true;
  return isQuiet && (status ?? 0) < 400 ? 'debug' : 'info';
}

const quietMethods: readonly string[] = ['GET', 'HEAD', 'OPTIONS'];

function lineOf(
  request: FastifyRequest,
  reply: FastifyReply,
  { level, status }: Pick<AccessLine, 'level' | 'status'>,
): AccessLine {
  const { method, id, brokenBy } = request;
  return {
    level,
    message: messageOf(reply.raw.writableEnded, brokenBy),
    ...{ request_id: id, method, path: safePath(request), route: pathOf(request), status },
    duration_ms: Math.round(reply.elapsedTime * 10) / 10,
    ...callerOf(request),
    trace_id: request.context?.span?.traceId,
  };
}

function messageOf(isAnswered: boolean, brokenBy: BrokenRequest | undefined): string {
  if (brokenBy?.code !== undefined) return `request that could not be read (${brokenBy.code})`;
  return isAnswered || brokenBy !== undefined
    ? 'request'
    : 'request; the client disconnected before the answer was complete';
}

/** Why a request was answered directly on its socket. */
interface BrokenRequest {
  readonly status: number;
  /** Error code of the HTTP parser. */
  readonly code?: string;
}

/**
 * Returns the log line of a message that did not become a request. Text that could not be parsed is not shown, since it
 * may contain anything.
 */
export function lineOfBrokenRequest(
  id: string,
  broken: BrokenRequest,
  message: IncomingMessage | undefined,
): AccessLine {
  return {
    level: 'info',
    message: messageOf(true, broken),
    request_id: id,
    method: message?.method,
    path: message?.url === undefined ? undefined : maskPath(message.url, isWord),
    status: broken.status,
    ...{ route: undefined, duration_ms: undefined, actor: undefined, account: undefined, trace_id: undefined },
  };
}

function callerOf({ call, scim, byOperator }: FastifyRequest): Pick<AccessLine, 'actor' | 'account'> {
  if (call !== undefined) return { actor: call.actor.id, account: call.account };
  if (scim !== undefined) return { actor: scim.integration, account: scim.account };
  return { actor: byOperator ? 'operator' : undefined, account: undefined };
}

/** Paths that monitoring polls. They get no span. */
const monitoringPaths: readonly (string | undefined)[] = ['/healthz', '/readyz', '/metrics'];

function beginSpan(tracer: Tracer, request: FastifyRequest): Span | undefined {
  const { method, routeOptions, headers } = request;
  if (monitoringPaths.includes(routeOptions.url)) return undefined;
  const { traceparent, tracestate } = headers;
  return tracer.begin(routeOptions.url === undefined ? method : `${method} ${routeOptions.url}`, {
    kind: 'server',
    traceparent: typeof traceparent === 'string' ? traceparent : undefined,
    tracestate: typeof tracestate === 'string' ? tracestate : undefined,
    attributes: { 'http.request.method': method, 'http.route': routeOptions.url, 'heddle.request_id': request.id },
  });
}

function endSpan(span: Span, { path, status, actor, account }: AccessLine): void {
  span.set({
    ...{ 'url.path': path, 'http.response.status_code': status },
    ...{ 'enduser.id': actor, 'heddle.account': account },
  });
  if (status !== undefined && status >= 500) span.fail(undefined);
  span.end();
}

/** Maximum length of a path in the log, in characters. */
const maxPathLength = 300;

/** Path parameters that are secrets: knowledge of the value is enough to use it. */
const secretParameters: readonly string[] = ['token', 'uid', 'code'];

/** Parts of a request from which its path is derived. */
type RequestPathParts = Pick<FastifyRequest, 'originalUrl' | 'params' | 'routeOptions' | 'refused'>;

/**
 * Returns the path of a request in a form that may be logged. The query is left out, because it may contain sign-in
 * codes, tokens and addresses of people. Parts of the path are shown when they are words or ids; if no route has the
 * path, only when they are words.
 */
export function safePath(request: RequestPathParts): string {
  const { originalUrl, params } = request;
  const isShown = pathOf(request) === undefined ? isWord : isLoggableName;
  const parameters = Object.entries((params ?? {}) as Readonly<Record<string, unknown>>);
  const secrets = parameters.flatMap(([name, value]) => (secretParameters.includes(name) ? [value] : []));
  return maskPath(originalUrl, (part) => isShown(part) && !secrets.includes(part));
}

function maskPath(url: string, isShown: (part: string) => boolean): string {
  const [path = ''] = url.split(/[?#;]/, 1);
  const shown = path
    .slice(0, maxPathLength)
    .split('/')
    .map((part) => (isShown(part) ? part : '****'));
  return `${shown.join('/')}${path.length > maxPathLength ? '…' : ''}`;
}

/** Accepts words, ids and names. Rejects anything that may be a token, an address or free text. */
function isLoggableName(part: string): boolean {
  return /^[\w.~:-]{0,40}$/.test(part) && !/^(nb[a-z]_|gh[a-z]_|eyJ|sk[-_]|xox)/i.test(part);
}

function isWord(part: string): boolean {
  return /^[a-z.-]{0,30}$|^v\d$/i.test(part);
}
