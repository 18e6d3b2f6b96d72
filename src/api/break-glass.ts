import type { FastifyRequest } from 'fastify';
import { parseDuration } from '../lib/duration.ts';
import { InvalidInput } from '../model/errors.ts';
import type { ProblemCode } from '../model/problem-codes.ts';
import type { OverrideRequest } from '../objects/overrides.ts';

const reasonHeader = 'X-Break-Glass';
const timeHeader = 'X-Break-Glass-TTL';

const hour = 60 * 60;
const usual = 4 * hour;
const longest = 24 * hour;
const longestReason = 500;

/**
 * Names of the reason and of the duration where a request states them (headers or members of the body), and the problem
 * code for refusals.
 */
interface Names {
  readonly reason: string;
  readonly time: string;
  readonly code: ProblemCode;
}

const headers: Names = { reason: reasonHeader, time: timeHeader, code: 'header_invalid' };
const members: Names = { reason: 'reason', time: 'ttl', code: 'override_invalid' };

/** Returns the override that the headers of a write request, `undefined` without them. Throws `InvalidInput`. */
export function breakGlassOf(request: FastifyRequest): OverrideRequest | undefined {
  const reason = textOf(request, reasonHeader);
  const time = textOf(request, timeHeader);
  if (reason === undefined) {
    if (time === undefined) return undefined;
    throw refused(headers, 'reason', `${timeHeader} is sent without a reason; also send ${reasonHeader}: <reason>`);
  }
  return readOverride(headers, reason, time);
}

/** Returns the override that the body of a request states. Throws `InvalidInput`. */
export function overrideIn(reason: string | undefined, time: string | undefined): OverrideRequest {
  return readOverride(members, (reason ?? '').trim(), time?.trim());
}

function readOverride(names: Names, reason: string, time: string | undefined): OverrideRequest {
  if (reason === '') throw refused(names, 'reason', `${names.reason} must contain a reason: ${names.reason}: <reason>`);
  if (reason.length > longestReason)
    throw refused(names, 'reason', `${names.reason} has more than ${longestReason} characters; shorten it`);
  return { reason, seconds: time === undefined ? usual : secondsOf(names, time) };
}

function secondsOf(names: Names, time: string): number {
  const seconds = parseDuration(time);
  if (seconds === undefined || seconds <= 0)
    throw refused(names, 'time', `${names.time} must be a duration such as 30m or 4h, not \`${time.slice(0, 100)}\``);
  if (seconds > longest)
    throw refused(names, 'time', `${names.time} may be at most 24h; for a lasting change, edit the document`);
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

function refused(names: Names, about: 'reason' | 'time', message: string): InvalidInput {
  return new InvalidInput(message, { problems: [{ code: names.code, path: `/${names[about]}`, message }] });
}
