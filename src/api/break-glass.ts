import type { FastifyRequest } from 'fastify';
import { parseDuration } from '../lib/duration.ts';
import { InvalidInput } from '../model/errors.ts';
import type { ProblemCode } from '../model/problem-codes.ts';
import type { OverrideRequest } from '../objects/overrides.ts';

const reasonHeader = 'X-Break-Glass';
const ttlHeader = 'X-Break-Glass-TTL';

const hour = 60 * 60;
const defaultSeconds = 4 * hour;
const maxSeconds = 24 * hour;
const maxReasonLength = 500;

/**
 * Names of the reason and of the duration where a request states them (headers or members of the body), and the problem
 * code for refusals.
 */
interface ParameterNames {
  readonly reason: string;
  readonly time: string;
  readonly code: ProblemCode;
}

const headerNames: ParameterNames = { reason: reasonHeader, time: ttlHeader, code: 'header_invalid' };
const memberNames: ParameterNames = { reason: 'reason', time: 'ttl', code: 'override_invalid' };

/** Returns the override that the headers of a write request, `undefined` without them. Throws `InvalidInput`. */
export function breakGlassOf(request: FastifyRequest): OverrideRequest | undefined {
  const reason = textOf(request, reasonHeader);
  const time = textOf(request, ttlHeader);
  if (reason === undefined) {
    if (time === undefined) return undefined;
    throw invalidOverride(
      headerNames,
      'reason',
      `${ttlHeader} is sent without a reason; also send ${reasonHeader}: <reason>`,
    );
  }
  return readOverride(headerNames, reason, time);
}

/** Returns the override that the body of a request states. Throws `InvalidInput`. */
export function overrideIn(reason: string | undefined, time: string | undefined): OverrideRequest {
  return readOverride(memberNames, (reason ?? '').trim(), time?.trim());
}

function readOverride(names: ParameterNames, reason: string, time: string | undefined): OverrideRequest {
  if (reason === '')
    throw invalidOverride(names, 'reason', `${names.reason} is empty; state why the value is overridden`);
  if (reason.length > maxReasonLength)
    throw invalidOverride(names, 'reason', `${names.reason} has more than ${maxReasonLength} characters; shorten it`);
  return { reason, seconds: time === undefined ? defaultSeconds : secondsOf(names, time) };
}

function secondsOf(names: ParameterNames, time: string): number {
  const seconds = parseDuration(time);
  if (seconds === undefined || seconds <= 0)
    throw invalidOverride(
      names,
      'time',
      `${names.time} must be a duration such as 30m or 4h, not \`${time.slice(0, 100)}\``,
    );
  if (seconds > maxSeconds)
    throw invalidOverride(names, 'time', `${names.time} may be at most 24h; for a lasting change, edit the document`);
  return seconds;
}

/** Returns a header as text. Node decodes headers as Latin-1, but most clients send UTF-8. */
function textOf(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name.toLowerCase()];
  if (value === undefined) return undefined;
  const bytes = Buffer.from(String(value), 'latin1');
  const text = bytes.toString('utf8');
  return (text.includes('\ufffd') ? String(value) : text).trim();
}

function invalidOverride(names: ParameterNames, about: 'reason' | 'time', message: string): InvalidInput {
  return new InvalidInput(message, { problems: [{ code: names.code, path: `/${names[about]}`, message }] });
}
