import { Internal } from '../../../model/errors.ts';
import type { OutboundAnswer } from '../../../outbound/client.ts';
import { OutboundFailure } from '../../../outbound/failure.ts';
import type { Verdict } from './target.ts';

/** Statuses of a receiver that will accept the request at a later time. */
const transientStatuses: ReadonlySet<number> = new Set([408, 409, 423, 425, 429]);
/** Statuses of a receiver that does not accept the content. */
const contentRefusedStatuses: ReadonlySet<number> = new Set([400, 413, 422]);

/** Returns the verdict on an HTTP answer of a receiver. `host` is the name of the receiver in messages. */
export function verdictOf({ status, headers }: Omit<OutboundAnswer, 'body'>, host: string, now: number): Verdict {
  if (status >= 200 && status < 300) return { outcome: 'accepted' };
  const said = `${host} answers ${status}`;
  if (contentRefusedStatuses.has(status)) return { outcome: 'refused', reason: said };
  if (status < 500 && !transientStatuses.has(status))
    return { outcome: 'pause', reason: `${said}; ${adviceFor(status)}` };
  const afterMs = parseRetryAfter(headers['retry-after'], now);
  return { outcome: 'retry', reason: said, ...(afterMs === undefined ? {} : { afterMs }) };
}

function adviceFor(status: number): string {
  if (status === 401 || status === 403) return 'see whether its credentials are right';
  if (status === 404 || status === 410) return 'see whether its address is right';
  return 'see whether its settings are right';
}

/** Returns the verdict on a request that got no answer. */
function verdictOfFailure(failure: OutboundFailure): Verdict {
  // A redirected address stays wrong until a person changes it. Any other failure may pass.
  return { outcome: failure.outcome === 'redirected' ? 'pause' : 'retry', reason: failure.message };
}

/** Returns the wait that a `Retry-After` header asks for, in milliseconds. The header contains seconds or a date. */
export function parseRetryAfter(header: string | readonly string[] | undefined, now: number): number | undefined {
  if (typeof header !== 'string') return undefined;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1000;
  // `Date.parse` accepts almost any number as a date.
  const at = /^[A-Z][a-z]{2}, /.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

/** Runs a request. A missing answer, or a secret that does not open, becomes a verdict too. */
export async function verdictOfRequest(work: () => Promise<Verdict>): Promise<Verdict> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof OutboundFailure) return verdictOfFailure(error);
    // A person must fix a key that does not open.
    if (error instanceof Internal) return { outcome: 'pause', reason: error.message };
    throw error;
  }
}

/**
 * Returns an upper bound of the number of values in a JSON text without parsing it: each value but the first follows
 * one of the characters `,`, `[` and `{`. The smallest values take twenty times their text in memory.
 */
export function countJsonValues(text: Buffer): number {
  let count = 1;
  for (const byte of text) if (byte === 0x2c || byte === 0x5b || byte === 0x7b) count += 1;
  return count;
}
