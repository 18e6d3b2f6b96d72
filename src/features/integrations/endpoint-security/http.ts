import { setTimeout as sleep } from 'node:timers/promises';
import { type Json, parseJson } from '../../../lib/json.ts';
import type { OutboundAnswer, OutboundRequest } from '../../../outbound/client.ts';
import { OutboundFailure } from '../../../outbound/failure.ts';
import type { Outbound } from '../../../outbound/outbound.ts';
import { countJsonValues, parseRetryAfter } from '../deliveries/answer.ts';
import { VendorFailure } from './vendor.ts';

/** Options of requests to products. */
export interface VendorHttpOptions {
  readonly outbound: Pick<Outbound, 'send'>;
  /** Returns the time in milliseconds since 1970. */
  now(): number;
  /** Aborts waiting when the server stops, the lease is lost, or the sync takes too long. */
  readonly signal: AbortSignal;
  /** Time limit of one answer, in milliseconds. Absent: a minute. */
  readonly timeoutMs?: number | undefined;
  /** Delay before the first repetition of a failed request, in milliseconds. Absent: a second. */
  readonly retryMs?: number | undefined;
}

/** One request to a product. */
export type VendorRequest = Pick<OutboundRequest, 'url' | 'method' | 'headers' | 'body' | 'maxBytes'> & {
  /** Error statuses that are returned as answers. */
  readonly accepts?: readonly number[];
};

/** A parsed answer. */
export interface VendorAnswer {
  readonly status: number;
  readonly body: Json;
}

/**
 * Sends a request to a product. Repeats it after a temporary failure, with the wait that the product asks for. Throws
 * `VendorFailure`.
 */
export type AskVendor = (request: VendorRequest) => Promise<VendorAnswer>;

const defaultTimeoutMs = 60_000;
const defaultRetryMs = 1000;
/**
 * Maximum size of an answer, in bytes: one page of devices. A server that reads several products at once has room for
 * one page of each.
 */
const maxResponseBytes = 8 * 1024 * 1024;
/** Maximum number of JSON values in an answer: the smallest values take twenty times their text in memory. */
const maxValues = 1_000_000;
/** Maximum number of attempts of a request. */
const maxAttempts = 5;
/**
 * Longest wait within a sync, in milliseconds. A product that asks for more is not queried again before the next sync.
 */
const maxWaitMs = 120_000;

/** Statuses of a product that is busy or broken for now. */
const transientStatuses: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504]);

/** Creates the function that sends requests to products over HTTP. */
export function createAsk(options: VendorHttpOptions): AskVendor {
  return async (request) => {
    for (let attempt = 1; ; attempt++) {
      const result = await askOnce(options, request);
      if ('body' in result) return result;
      const backOff = (options.retryMs ?? defaultRetryMs) * 2 ** (attempt - 1);
      const waitMs = Math.max(backOff, result.afterMs ?? 0);
      if (attempt === maxAttempts || waitMs > maxWaitMs)
        throw new VendorFailure(result.reason, { afterMs: result.afterMs });
      await pause(waitMs, options.signal);
    }
  };
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(ms, undefined, { signal });
  } catch (cause) {
    throw new VendorFailure('the sync was stopped', { cause });
  }
}

interface TransientFailure {
  readonly reason: string;
  readonly afterMs: number | undefined;
}

async function askOnce(options: VendorHttpOptions, request: VendorRequest): Promise<VendorAnswer | TransientFailure> {
  const { url, accepts = [] } = request;
  const answer = await send(options, request);
  if (!('status' in answer)) return answer;
  const { status } = answer;
  const said = `${url.host} answers ${status}`;
  if (transientStatuses.has(status)) return { reason: said, afterMs: requestedWaitMs(answer.headers, options.now()) };
  if ((status < 200 || status >= 300) && !accepts.includes(status)) throw refusal(said, status);
  return readBody(answer, url.host);
}

async function send(
  { outbound, signal, timeoutMs = defaultTimeoutMs }: VendorHttpOptions,
  { accepts: _, ...request }: VendorRequest,
): Promise<OutboundAnswer | TransientFailure> {
  if (signal.aborted) throw new VendorFailure('the sync was stopped');
  const headers = { accept: 'application/json', ...request.headers };
  try {
    return await outbound.send('endpoint_security', {
      ...{ maxBytes: maxResponseBytes, ...request, namedBy: 'user', headers, timeoutMs },
    });
  } catch (error) {
    if (!(error instanceof OutboundFailure)) throw error;
    if (error.outcome === 'too_large') throw new AnswerTooLarge(error.message, { cause: error });
    if (['refused', 'redirected'].includes(error.outcome)) throw new VendorFailure(error.message, { cause: error });
    return { reason: error.message, afterMs: undefined };
  }
}

/** Parses the body. A body that is not complete JSON was cut off by the connection, so the request is repeated. */
function readBody({ status, body }: OutboundAnswer, host: string): VendorAnswer | TransientFailure {
  if (countJsonValues(body) > maxValues)
    throw new AnswerTooLarge(`${host} answers with more than ${maxValues} values; such an answer is not read`);
  try {
    return { status, body: parseJson(body.toString('utf8')) };
  } catch {
    return { reason: `${host} answers with invalid or incomplete JSON`, afterMs: undefined };
  }
}

/** Failure of an answer that would take too much memory. A page of fewer devices may fit. */
export class AnswerTooLarge extends VendorFailure {}

/** Failure of a product that refuses the credentials. They may have ended. */
export class CredentialsRefused extends VendorFailure {}

function refusal(said: string, status: number): VendorFailure {
  if (status === 401) return new CredentialsRefused(`${said}; see whether the credentials are right and still valid`);
  if (status === 403) return new VendorFailure(`${said}; see whether the credentials may read devices`);
  if (status === 404) return new VendorFailure(`${said}; see whether the address is right`);
  return new VendorFailure(`${said}; see whether the settings are right`);
}

/**
 * Returns how long a product asks to wait, in milliseconds. The headers contain seconds, a date, or (one product) a
 * time in seconds since 1970.
 */
function requestedWaitMs(headers: OutboundAnswer['headers'], now: number): number | undefined {
  const moment = headers['x-ratelimit-retryafter'];
  if (typeof moment === 'string' && /^\d{9,12}$/.test(moment)) return Math.max(0, Number(moment) * 1000 - now);
  return parseRetryAfter(headers['retry-after'], now);
}
