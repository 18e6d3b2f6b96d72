import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Engine } from '../commit/engine.ts';
import { createRequestStore, type EarlierEffects, type StoredAnswer } from '../commit/idempotency.ts';
import type { RequestAttempt } from '../db/commit/idempotency.ts';
import { alreadyDoneMessage } from '../db/repeated-requests.ts';
import { canonicalJson, type Json, parseJson } from '../lib/json.ts';
import { sha256 } from '../lib/node-pure.ts';
import { Conflict, InvalidInput } from '../model/errors.ts';
import { callOf } from './authenticate.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set while the request is executed, when its answer will be stored. */
    repeatable: { readonly key: string; readonly attempt: RequestAttempt } | undefined;
    /** Stored instead of a body that contains values which are shown once or sealed. */
    keptBody: Json | undefined;
  }
  interface FastifyContextConfig {
    /**
     * Rebuilds an answer that was lost, from the result of the request. Returns `undefined` when the result is not
     * enough for that.
     */
    recover?: Recover;
    /**
     * Throws when the caller may not see the values again that this route shows once. Absent: every caller that may
     * call the route may see them.
     */
    mayRepeat?: (request: FastifyRequest, body: Json) => Promise<void>;
  }
}

/** Rebuilds the body of a lost answer from what the request did, and sets status and headers of the reply. */
export type Recover<T = unknown> = (request: FastifyRequest, reply: FastifyReply, done: EarlierEffects) => Promise<T>;

/**
 * Lets clients repeat a POST with the same `Idempotency-Key` until they get its answer: the request is executed once,
 * and a repetition gets the same answer. Must run after authentication. `report` is called when an answer could not be
 * stored.
 */
export function addIdempotency(
  app: FastifyInstance,
  engine: Engine,
  report: (error: unknown, request: FastifyRequest) => void,
): void {
  const requests = createRequestStore(engine);
  app.decorateRequest('repeatable', undefined);
  app.decorateRequest('keptBody', undefined);
  app.addHook('preHandler', async (request, reply) => {
    const key = keyOf(request);
    if (key === undefined) return;
    const found = await requests.begin(callOf(request), { key, hash: hashOf(engine, request) });
    if (found.state === 'answered') return replay(request, reply, found.answer);
    if (found.state === 'done') return sendRecovered(request, reply, found.done);
    request.call = found.call;
    request.repeatable = { key, attempt: found.attempt };
  });
  app.addHook('onSend', async (request, reply, payload) => {
    const { repeatable } = request;
    if (repeatable === undefined) return payload;
    const { key, attempt } = repeatable;
    request.repeatable = undefined;
    const end = isOutcome(reply)
      ? requests.storeAnswer(callOf(request), key, attempt, answerOf(request, reply, payload))
      : requests.abandon(callOf(request), key, attempt);
    // The request was executed, so it is answered even if storing fails. A repetition is then answered by what the
    // request did.
    const state = await end.catch((error: unknown) => report(error, request));
    return state === 'done' ? replaceWithConflict(reply) : payload;
  });
}

/**
 * Sets the body that is stored instead of a body with values that are shown once or sealed. The original body is stored
 * sealed, for a day.
 */
export function setStoredBody(request: FastifyRequest, body: Json): void {
  request.keptBody = body;
}

function keyOf(request: FastifyRequest): string | undefined {
  const key = request.headers['idempotency-key'];
  if (request.method !== 'POST' || key === undefined || request.call === undefined) return undefined;
  if (typeof key === 'string' && /^[\x21-\x7e]{1,255}$/.test(key)) return key;
  throw new InvalidInput('`Idempotency-Key` must be 1 to 255 visible ASCII characters without spaces, such as a UUID');
}

/**
 * Returns a hash that is equal for equal requests. It is keyed with the server's key, because a body may contain
 * secrets that must not be guessed from the hash.
 */
function hashOf({ planEnvironment }: Engine, request: FastifyRequest): string {
  // A body that is not an archive is JSON, or consists of texts.
  const body = Buffer.isBuffer(request.body) ? createHash('sha256').update(request.body).digest('hex') : request.body;
  const { method, url, profile } = request;
  const more = profile === 'specification' ? [] : [profile];
  const text = canonicalJson([method, url, (body ?? null) as Json, ...more]);
  return sha256(planEnvironment.vault.requestFingerprint(sha256(text)));
}

/** Replaces a refusal by 409 when an earlier attempt of the same request turns out to have been executed. */
function replaceWithConflict(reply: FastifyReply): string {
  void reply.code(409).header('retry-after', '1').header('content-type', 'application/json; charset=utf-8');
  return JSON.stringify({ message: alreadyDoneMessage, code: 409 });
}

async function replay(
  request: FastifyRequest,
  reply: FastifyReply,
  { once, ...shown }: StoredAnswer,
): Promise<FastifyReply> {
  const { headers, body } = once ?? shown;
  if (once !== undefined) await request.routeOptions.config.mayRepeat?.(request, parseJson(body ?? 'null'));
  return reply.code(shown.status).headers(headers).header('idempotency-replayed', 'true').send(body);
}

async function sendRecovered(
  request: FastifyRequest,
  reply: FastifyReply,
  done: EarlierEffects,
): Promise<FastifyReply> {
  const { recover, mayRepeat } = request.routeOptions.config;
  const body = await recover?.(request, reply, done);
  if (body === undefined) {
    const where = done.revision === undefined ? '' : ` as revision ${done.revision}`;
    throw new Conflict(
      'refused',
      `the request was carried out${where}, but its answer was lost; read the current state instead of sending the request again`,
    );
  }
  if (done.once !== undefined) {
    // The body is plain data.
    await mayRepeat?.(request, body as Json);
    void reply.header('cache-control', 'no-store');
    if (done.once.notice !== undefined) void reply.header('heddle-notice', done.once.notice);
  }
  return reply.header('idempotency-replayed', 'true').send(body === null ? undefined : body);
}

/** Whether the answer is the final outcome of the request, as opposed to a request to try again later. */
function isOutcome(reply: FastifyReply): boolean {
  const { statusCode: status } = reply;
  return status < 500 && !retryableStatuses.includes(status) && !reply.hasHeader('retry-after');
}

// The same request may succeed later, with other credentials, other rights or an approval.
const retryableStatuses: readonly number[] = [401, 403, 428];

const storedHeaders = ['content-type', 'etag', 'heddle-ignored', 'location', 'cache-control'];
/** Additional headers that are stored for answers with values that are shown once. */
const onceHeaders = ['heddle-notice', 'heddle-invite-link'];

function answerOf(request: FastifyRequest, reply: FastifyReply, payload: unknown): StoredAnswer {
  const { statusCode: status } = reply;
  const body = typeof payload === 'string' && payload !== '' ? payload : undefined;
  const isOnce = request.keptBody !== undefined || String(reply.getHeader('cache-control') ?? '').includes('no-store');
  if (!isOnce || status >= 400) return { status, ...storedPartsOf(reply, storedHeaders, body) };
  const masked = request.keptBody === undefined ? undefined : JSON.stringify(request.keptBody);
  return {
    status,
    ...storedPartsOf(reply, storedHeaders, masked),
    once: storedPartsOf(reply, [...storedHeaders, ...onceHeaders], body),
  };
}

function storedPartsOf(reply: FastifyReply, names: readonly string[], body: string | undefined) {
  const present = names.filter((name) => reply.hasHeader(name) && (body !== undefined || name !== 'content-type'));
  const headers = Object.fromEntries(present.map((name) => [name, String(reply.getHeader(name))]));
  return { headers, ...(body === undefined ? {} : { body }) };
}
