import type { FastifyRequest } from 'fastify';
import type { OverrideRequest } from '../engine/overrides.ts';
import { parseDuration } from '../lib/duration.ts';
import { InvalidInput } from '../model/errors.ts';

const reasonHeader = 'X-Break-Glass';
const timeHeader = 'X-Break-Glass-TTL';

const hour = 60 * 60;
const usual = 4 * hour;
const longest = 24 * hour;
const longestReason = 500;

/** The wish to set aside what sources state, if the headers of a write say so. Throws `InvalidInput`. */
export function breakGlassOf(request: FastifyRequest): OverrideRequest | undefined {
  const reason = textOf(request, reasonHeader);
  const time = textOf(request, timeHeader);
  if (reason === undefined) {
    if (time === undefined) return undefined;
    throw refused(reasonHeader, `${timeHeader} says how long and nothing says why; send ${reasonHeader}: <reason> too`);
  }
  if (reason === '') throw refused(reasonHeader, `${reasonHeader} must say why: ${reasonHeader}: <reason>`);
  if (reason.length > longestReason)
    throw refused(reasonHeader, `${reasonHeader} has more than ${longestReason} characters; say it shorter`);
  return { reason, seconds: time === undefined ? usual : secondsOf(time) };
}

function secondsOf(time: string): number {
  const seconds = parseDuration(time);
  if (seconds === undefined || seconds <= 0)
    throw refused(timeHeader, `${timeHeader} must be a duration such as 30m or 4h, not \`${time.slice(0, 100)}\``);
  if (seconds > longest)
    throw refused(timeHeader, `${timeHeader} may be at most 24h; change the document for what is to stay`);
  return seconds;
}

/** Node reads headers as Latin-1; most clients write UTF-8. */
function textOf(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name.toLowerCase()];
  if (value === undefined) return undefined;
  const bytes = Buffer.from(String(value), 'latin1');
  const text = bytes.toString('utf8');
  return (text.includes('\ufffd') ? String(value) : text).trim();
}

function refused(header: string, message: string): InvalidInput {
  return new InvalidInput(message, { problems: [{ code: 'header_invalid', path: `/${header}`, message }] });
}
