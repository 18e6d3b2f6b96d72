import { Internal } from '../../../model/errors.ts';
import type { OutboundAnswer } from '../../../outbound/client.ts';
import { OutboundFailure } from '../../../outbound/failure.ts';
import type { Verdict } from './target.ts';

/** It comes by itself to accept what it does not accept now. */
const passing: ReadonlySet<number> = new Set([408, 409, 423, 425, 429]);
/** It does not want what is in the body. */
const refusing: ReadonlySet<number> = new Set([400, 413, 422]);

/** What a receiver's answer over HTTP means; `host` is what people know it by. */
export function verdictOf({ status, headers }: Omit<OutboundAnswer, 'body'>, host: string, now: number): Verdict {
  if (status >= 200 && status < 300) return { outcome: 'accepted' };
  const said = `${host} answers ${status}`;
  if (refusing.has(status)) return { outcome: 'refused', reason: said };
  if (status < 500 && !passing.has(status)) return { outcome: 'pause', reason: `${said}; ${adviceFor(status)}` };
  const afterMs = retryAfter(headers['retry-after'], now);
  return { outcome: 'retry', reason: said, ...(afterMs === undefined ? {} : { afterMs }) };
}

function adviceFor(status: number): string {
  if (status === 401 || status === 403) return 'see whether its credentials are right';
  if (status === 404 || status === 410) return 'see whether its address is right';
  return 'see whether its settings are right';
}

/** What it means that a request came to no answer. */
function verdictOfFailure(failure: OutboundFailure): Verdict {
  // The address stays wrong until people change it; everything else may pass.
  return { outcome: failure.outcome === 'redirected' ? 'pause' : 'retry', reason: failure.message };
}

/** The milliseconds of a `Retry-After`: seconds, or a date. */
export function retryAfter(header: string | readonly string[] | undefined, now: number): number | undefined {
  if (typeof header !== 'string') return undefined;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1000;
  // The parser takes almost any number for a date.
  const at = /^[A-Z][a-z]{2}, /.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

/** Runs a request; that there was no answer, or nothing to send it with, is a verdict too. */
export async function verdictAbout(work: () => Promise<Verdict>): Promise<Verdict> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof OutboundFailure) return verdictOfFailure(error);
    // A key that does not open is for people to see to.
    if (error instanceof Internal) return { outcome: 'pause', reason: error.message };
    throw error;
  }
}

/**
 * At most how many values a JSON text has, before it is parsed: each but the first stands behind one of these characters. The
 * smallest values take twenty times their text in memory.
 */
export function countValues(text: Buffer): number {
  let count = 1;
  for (const byte of text) if (byte === 0x2c || byte === 0x5b || byte === 0x7b) count += 1;
  return count;
}
