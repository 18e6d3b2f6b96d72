import { randomUUID } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { safePath } from './access-log.ts';
import { preferenceOf } from './input/prefer.ts';

/**
 * Security headers of every answer, for browsers: no answer is a page, a frame or a script unless its route overrides
 * this.
 */
const securityHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/** Headers that scripts of other origins may read (CORS). */
export const exposedHeaders = [
  ...[
    'ETag',
    'Link',
    'Retry-After',
    'X-Request-Id',
    'Heddle-Ignored',
    'Heddle-Notice',
    'Heddle-Invite-Link',
    'Idempotency-Replayed',
    'Content-Disposition',
  ],
];

/** Returns the id of a request: the value of its `X-Request-Id` if that is safe in a log line, otherwise a new id. */
export function requestId({ headers }: { readonly headers: Readonly<Record<string, unknown>> }): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given) ? given : randomUUID();
}

/** Adds the security headers and the request id to every answer. */
export function addHeaders(app: FastifyInstance, { https }: { readonly https: boolean }): void {
  const always = https ? { ...securityHeaders, 'strict-transport-security': 'max-age=31536000' } : securityHeaders;
  app.addHook('onRequest', (request, reply, next) => {
    void reply.headers(always).header('x-request-id', request.id);
    next();
  });
}

/** Returns method, path and id of a request, in a form that may be logged. */
export function describeRequest(request: FastifyRequest): string {
  return `${request.method} ${safePath(request)} (request ${request.id})`;
}

/** Whether unknown members and parameters are refused instead of ignored (`Prefer: handling=strict`). */
export function isStrict({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
  return preferenceOf('handling', [headers['prefer'] ?? []].flat().join()) === 'strict';
}

const ignoredHeader = 'heddle-ignored';

/** Maximum length of the header, in characters: most clients accept this much in one header, along with the others. */
const maxHeaderLength = 4000;

/**
 * Lists the ignored parts of a request in `Heddle-Ignored`: `?name` for query parameters, JSON pointers for members of
 * the body. `...` means that there are more.
 */
export function addIgnoredHeader(reply: FastifyReply, names: readonly string[]): void {
  if (names.length === 0) return;
  const present = reply.getHeader(ignoredHeader);
  const shown = present === undefined ? [] : [String(present)];
  let room = maxHeaderLength - shown.join().length;
  for (const name of names) {
    const text = encodeURI(name.toWellFormed()).replaceAll(',', '%2C');
    room -= text.length + 2;
    if (room < 0) {
      shown.push('...');
      break;
    }
    shown.push(text);
  }
  void reply.header(ignoredHeader, shown.join(', '));
}
