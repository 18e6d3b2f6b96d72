import type { FastifyReply, FastifyRequest } from 'fastify';
import { isInDoubt } from '../commit/in-doubt.ts';
import { NeedsApproval } from '../features/config/plans/approvals.ts';
import { codeOf } from '../lib/error-code.ts';
import { isObject } from '../lib/json.ts';
import {
  Conflict,
  type ConflictReason,
  HeddleError,
  InvalidInput,
  NotAllowed,
  NotFound,
  Unauthenticated,
  Unavailable,
  UnsafePlan,
} from '../model/errors.ts';
import type { Problem } from '../model/problem.ts';
import type { FailureLimit } from './rate-limit.ts';

/** Body of all error answers. `code` is the HTTP status. */
export interface ErrorBody {
  readonly message: string;
  readonly code: number;
  readonly problems?: readonly Problem[];
  /**
   * Present when it is unknown whether a write happened: the id of the request. The history lists the write under it,
   * if it happened.
   */
  readonly request?: string;
}

const conflictStatus: Readonly<Record<ConflictReason, number>> = {
  taken: 409,
  in_use: 409,
  linked: 400,
  managed_field: 409,
  stale: 412,
  precondition: 412,
  gone: 410,
  refused: 409,
  running: 409,
  locked: 423,
};

/** Returns the HTTP status of an exception. There is no other such mapping. */
export function statusOf(error: unknown): number {
  if (error instanceof Conflict) return conflictStatus[error.reason];
  if (error instanceof InvalidInput) return 422;
  if (error instanceof NotFound) return 404;
  if (error instanceof NotAllowed) return 403;
  if (error instanceof Unauthenticated) return 401;
  if (error instanceof UnsafePlan) return 428;
  if (error instanceof Unavailable) return 503;
  if (error instanceof HeddleError) return 500;
  return frameworkStatus(error);
}

/**
 * Returns the status of Fastify's own refusals: a body that is not JSON, too large, or of a wrong type. 500 for all
 * other errors.
 */
function frameworkStatus(error: unknown): number {
  const statusCode = isObject(error) ? error['statusCode'] : undefined;
  return typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500 ? statusCode : 500;
}

/**
 * Creates the handler that answers failed requests. Only defects of the program (status 500) are reported; their cause
 * is never shown to the caller. `limited` may replace the error.
 */
export function createErrorHandler(
  report: (error: unknown, request: FastifyRequest) => void,
  limited: FailureLimit = (_request, _reply, error) => error,
) {
  return (failure: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const error = limited(request, reply, failure, statusOf(failure));
    const status = statusOf(error);
    if (status === 500) report(error, request);
    void reply.code(status).header('cache-control', 'no-store');
    // Without an idempotency key, repeating a write whose outcome is unknown may execute it twice.
    const isRisky = isInDoubt(error) && request.headers['idempotency-key'] === undefined;
    if (isTransient(error, status) && !isRisky) void reply.header('retry-after', '1');
    void reply.send({ ...bodyOf(error, status, request), ...doubtOf(error, request) });
  };
}

/** Whether the caller only needs to try again soon. */
function isTransient(error: unknown, status: number): boolean {
  return status === 503 || status === 423 || (error instanceof Conflict && error.reason === 'running');
}

function bodyOf(error: unknown, status: number, request: FastifyRequest): ErrorBody & { readonly plan?: unknown } {
  if (status === 500) return { message: 'internal server error', code: status };
  const problems = error instanceof HeddleError && error.problems.length > 0 ? { problems: error.problems } : {};
  const plan = error instanceof NeedsApproval ? { plan: error.plan } : {};
  return { message: messageOf(error, request), code: status, ...problems, ...plan };
}

/** Returns what a caller needs to find out later whether the write happened. */
function doubtOf(error: unknown, { id }: FastifyRequest): Pick<ErrorBody, 'problems' | 'request'> {
  if (!isInDoubt(error)) return {};
  const { requestId: request = id, message } = error;
  return { problems: [{ code: 'in_doubt', message }], request };
}

/** Returns the message of an exception that callers may see. */
export function messageOf(error: unknown, { routeOptions }: FastifyRequest): string {
  switch (codeOf(error)) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return `the body is too large; send at most ${inBinaryUnit(routeOptions.bodyLimit)} to this path`;
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return 'this content type is not accepted; send `Content-Type: application/json`';
    default:
      return error instanceof Error ? error.message : String(error);
  }
}

/** Limits of bodies are multiples of a KiB. */
function inBinaryUnit(bytes: number): string {
  const kibibytes = bytes / 1024;
  return kibibytes < 1024 ? `${kibibytes} KiB` : `${kibibytes / 1024} MiB`;
}
