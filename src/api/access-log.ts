import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Context, runIn } from '../telemetry/context.ts';
import type { Span, Tracer } from '../telemetry/span.ts';
import { pathOf } from './other-methods.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** In which the request is carried out. */
    context: Context | undefined;
    /** The operator of the server asks. */
    byOperator: boolean;
    /** What was wrong with its body, when it was answered past the framework. */
    brokenBy: Broken | undefined;
  }
}

/** What the log says about one request. */
export type AccessLine = {
  /** Of what only reads, and of what machines report many times a minute, `debug`, unless it was refused. */
  readonly level: 'debug' | 'info';
  readonly message: string;
  readonly request_id: string;
  /** Absent, as the path is, of what could not be read. */
  readonly method: string | undefined;
  /** Without the query, and without what may be a secret. */
  readonly path: string | undefined;
  /** As the interface describes it; absent where nothing is. */
  readonly route: string | undefined;
  /** Absent when the client left before it was answered. */
  readonly status: number | undefined;
  /** Absent when it was refused before it began. */
  readonly duration_ms: number | undefined;
  /** The id of who asked; absent for strangers. */
  readonly actor: string | undefined;
  readonly account: string | undefined;
  /** By which the trace of the request is found; absent: nothing is traced. */
  readonly trace_id: string | undefined;
};

/** Runs every request in a context of its own, with a span if there is a tracer, and writes a line about it when it is over. */
export function addAccessLog(
  app: FastifyInstance,
  write: (line: AccessLine) => void,
  tracer: Tracer | undefined,
): void {
  app.decorateRequest('context', undefined);
  app.decorateRequest('byOperator', false);
  app.addHook('onRequest', (request, reply, next) => {
    const span = tracer && beginSpan(tracer, request);
    request.context = { requestId: request.id, ...(span === undefined ? {} : { span }) };
    logEnd(request, reply, write);
    runIn(request.context, next);
  });
  // A body arrives in the context of its connection.
  app.addHook('preValidation', (request, _reply, next) => runIn(request.context ?? {}, next));
}

/** Writes a line about a request when it is answered, or its client has left. */
export function logEnd(request: FastifyRequest, reply: FastifyReply, write: (line: AccessLine) => void): void {
  reply.raw.once('close', () => {
    const line = lineOf(request, reply);
    const { span } = request.context ?? {};
    if (span !== undefined) endSpan(span, line);
    write(line);
  });
}

function lineOf(request: FastifyRequest, reply: FastifyReply): AccessLine {
  const { method, id, brokenBy } = request;
  const route = pathOf(request);
  const isAnswered = reply.raw.writableEnded;
  const status = brokenBy?.status ?? (reply.raw.headersSent ? reply.raw.statusCode : undefined);
  const isQuiet = ['GET', 'HEAD', 'OPTIONS'].includes(method) || route?.startsWith('/agent/') === true;
  return {
    level: isQuiet && (status ?? 0) < 400 ? 'debug' : 'info',
    message: messageOf(isAnswered, brokenBy),
    ...{ request_id: id, method, path: safePath(request), route, status },
    duration_ms: Math.round(reply.elapsedTime * 10) / 10,
    ...callerOf(request),
    trace_id: request.context?.span?.traceId,
  };
}

function messageOf(isAnswered: boolean, brokenBy: Broken | undefined): string {
  if (brokenBy?.code !== undefined) return `request that could not be read (${brokenBy.code})`;
  return isAnswered || brokenBy !== undefined ? 'request' : 'request, whose client left before its answer ended';
}

/** Why something was answered past the framework. */
interface Broken {
  readonly status: number;
  /** What the parser calls it. */
  readonly code?: string;
}

/** The line about what did not become a request; what could not be read is not shown, since anything may be in it. */
export function lineOfBroken(id: string, broken: Broken, message: IncomingMessage | undefined): AccessLine {
  return {
    level: 'info',
    message: messageOf(true, broken),
    request_id: id,
    method: message?.method,
    path: message?.url === undefined ? undefined : shownPath(message.url, isWord),
    status: broken.status,
    ...{ route: undefined, duration_ms: undefined, actor: undefined, account: undefined, trace_id: undefined },
  };
}

function callerOf({ call, scim, byOperator }: FastifyRequest): Pick<AccessLine, 'actor' | 'account'> {
  if (call !== undefined) return { actor: call.actor.id, account: call.account };
  if (scim !== undefined) return { actor: scim.integration, account: scim.account };
  return { actor: byOperator ? 'operator' : undefined, account: undefined };
}

/** What is asked again and again by machines that watch the server. */
const watched: readonly (string | undefined)[] = ['/healthz', '/readyz', '/metrics'];

function beginSpan(tracer: Tracer, request: FastifyRequest): Span | undefined {
  const { method, routeOptions, headers } = request;
  if (watched.includes(routeOptions.url)) return undefined;
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

/** Longer paths are cut in the log. */
const longestPath = 300;

/** Parameters of paths that are secrets: knowing one is enough to use it. */
const secretParameters: readonly string[] = ['token', 'uid', 'code'];

/** What says where a request goes. */
type Address = Pick<FastifyRequest, 'originalUrl' | 'params' | 'routeOptions' | 'refused'>;

/**
 * The path of a request as a log may have it. Queries hold codes of sign-ins, tokens and addresses of people, and are left out;
 * parts of the path are shown when they are words or ids, and of paths where nothing is only when they are words.
 */
export function safePath(request: Address): string {
  const { originalUrl, params } = request;
  const isShown = pathOf(request) === undefined ? isWord : isName;
  const parameters = Object.entries((params ?? {}) as Readonly<Record<string, unknown>>);
  const secrets = parameters.flatMap(([name, value]) => (secretParameters.includes(name) ? [value] : []));
  return shownPath(originalUrl, (part) => isShown(part) && !secrets.includes(part));
}

function shownPath(url: string, isShown: (part: string) => boolean): string {
  const [path = ''] = url.split(/[?#;]/, 1);
  const shown = path
    .slice(0, longestPath)
    .split('/')
    .map((part) => (isShown(part) ? part : '****'));
  return `${shown.join('/')}${path.length > longestPath ? '…' : ''}`;
}

/** Words, ids and names; nothing that may be a token, an address or a text that was put there. */
function isName(part: string): boolean {
  return /^[\w.~:-]{0,40}$/.test(part) && !/^(nb[a-z]_|gh[a-z]_|eyJ|sk[-_]|xox)/i.test(part);
}

function isWord(part: string): boolean {
  return /^[a-z.-]{0,30}$|^v\d$/i.test(part);
}
