import { randomUUID } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { safePath } from './access-log.ts';

/** Headers of every answer for browsers: nothing here is a page, a frame or a script unless a route says so. */
const protecting: Readonly<Record<string, string>> = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/** Headers that programs of other origins may read. */
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

/** The id of a request: the one it came with, when it can stand in a log line, else a new one. */
export function requestId({ headers }: { readonly headers: Readonly<Record<string, unknown>> }): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given) ? given : randomUUID();
}

/** Puts the headers that protect on every answer, and the id by which its request is found in the log. */
export function addHeaders(app: FastifyInstance, { https }: { readonly https: boolean }): void {
  const always = https ? { ...protecting, 'strict-transport-security': 'max-age=31536000' } : protecting;
  app.addHook('onRequest', async (request, reply) => {
    void reply.headers(always).header('x-request-id', request.id);
  });
}

/** A place in the interface as a log may name it. */
export function placeOf(request: FastifyRequest): string {
  return `${request.method} ${safePath(request)} (request ${request.id})`;
}

/** Whether what nothing knows is refused and not ignored. */
export function isStrict({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
  return /\bhandling=strict\b/.test(String(headers['prefer'] ?? ''));
}

const header = 'heddle-ignored';

/** What clients accept in one header, with room for the others. */
const longest = 4000;

/** Names in `Heddle-Ignored` what of a request nothing knows: `?name` of the query, JSON pointers of the body; `...` says that there are more. */
export function addIgnored(reply: FastifyReply, names: readonly string[]): void {
  if (names.length === 0) return;
  const present = reply.getHeader(header);
  const shown = present === undefined ? [] : [String(present)];
  let room = longest - shown.join().length;
  for (const name of names) {
    const text = encodeURI(name.toWellFormed()).replaceAll(',', '%2C');
    room -= text.length + 2;
    if (room < 0) {
      shown.push('...');
      break;
    }
    shown.push(text);
  }
  void reply.header(header, shown.join(', '));
}
