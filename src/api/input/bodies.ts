import { isUtf8 } from 'node:buffer';
import type { FastifyInstance } from 'fastify';
import { isObject, type Json, type JsonObject } from '../../lib/json.ts';
import { measureJson } from '../../lib/json-size.ts';
import { InvalidInput } from '../../model/errors.ts';
import type { ProblemCode } from '../../model/problem-codes.ts';
import { isStorable } from '../../model/storable-text.ts';

/**
 * Parses JSON bodies as clients send them: an empty body with a JSON content type counts as no body, and the body of a
 * DELETE is ignored. Text that Postgres cannot store is refused here for all routes, or replaced on routes where
 * strangers supply the text.
 */
export function acceptJson(app: FastifyInstance, unstorable: 'refused' | 'replaced' = 'refused'): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, bytes, done) => {
    if (bytes.length === 0 || request.method === 'DELETE') {
      done(null, undefined);
      return;
    }
    try {
      done(null, unstorable === 'refused' ? parseBody(bytes) : parseReplacing(bytes));
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)));
    }
  });
}

/**
 * Returns the maximum number of values in a body of so many bytes. Genuine bodies have one value for ten bytes or more.
 * Parsing 1 MiB within this limit takes at most a third of the time that 1 MiB of empty lists takes.
 */
function maxValuesOf(bytes: number): number {
  return Math.min(100_000 + bytes / 8, 1_000_000);
}

/**
 * Throws `BadBody` for a body that is expensive to parse for its size. Parsing blocks all other requests, and the
 * bodies of some routes are parsed before the caller is known.
 */
function requireParsable(bytes: Buffer): void {
  const most = maxValuesOf(bytes.length);
  const { values, depth } = measureJson(bytes, { values: most, depth: maxDepth });
  requireFlat(depth);
  if (values > most)
    throw new BadBody(
      `the body has more than ${Math.floor(most)} values, which is too many for its size; send them in several requests`,
    );
}

/** In JSON that is valid UTF-8, text that cannot be stored can only be written as an escape. */
const unstorablePattern = /\\u(0000|[dD][89a-fA-F])|"__proto__"/;

/** Parses a JSON body. Throws `BadBody` when it is not JSON, cannot be stored or is expensive to parse. */
export function parseBody(body: string | Buffer): unknown {
  const text = textOfBody(body);
  const value = readJson(body, text);
  if (unstorablePattern.test(text)) refuseUnstorable(value, '', 0);
  return value;
}

/** As `parseBody`, but replaces characters that cannot be stored by U+FFFD. */
function parseReplacing(body: string | Buffer): unknown {
  const text = String(body);
  const value = readJson(body, text);
  if (!unstorablePattern.test(text)) return value;
  const storable = replaceUnstorable(value, 0);
  refuseUnstorable(storable, '', 0);
  return storable;
}

function readJson(body: string | Buffer, text: string): unknown {
  requireParsable(typeof body === 'string' ? Buffer.from(body) : body);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new BadBody(`the body is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Maximum depth of a body. The objects of all kinds are less deep than 64 levels. */
const maxDepth = 100;

function requireFlat(depth: number): void {
  if (depth > maxDepth) throw new BadBody(`the body nests more than ${maxDepth} levels deep; send a flatter one`);
}

function refuseUnstorable(value: unknown, pointer: string, depth: number): void {
  requireFlat(depth);
  if (typeof value === 'string' && !isStorable(value)) {
    throw new BadBody(
      `the text at ${pointer === '' ? 'the top' : pointer} contains NUL or half a surrogate pair, which cannot be stored; remove it`,
    );
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [name, item] of Object.entries(value)) {
    if (name === '__proto__')
      throw new BadBody(
        `the member name __proto__ at ${pointer === '' ? 'the top' : pointer} is not allowed; remove it`,
      );
    refuseUnstorable(name, pointer, depth);
    refuseUnstorable(item, `${pointer}/${name}`, depth + 1);
  }
}

function replaceUnstorable(value: unknown, depth: number): unknown {
  requireFlat(depth);
  if (typeof value === 'string') return storableText(value);
  if (Array.isArray(value)) return value.map((item) => replaceUnstorable(item, depth + 1));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value);
  return Object.fromEntries(members.map(([name, item]) => [storableText(name), replaceUnstorable(item, depth + 1)]));
}

function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}

/** Returns the body of a request as an object. Throws `BadBody` (400) for anything else. */
export function objectBody(body: unknown): JsonObject {
  if (isObject(body)) return body as JsonObject;
  throw new BadBody(body === undefined ? 'the request needs a body: a JSON object' : 'the body must be a JSON object');
}

/** Returns a required text of a body, which must be one of `words` if there are any. Throws `InvalidInput`. */
export function textMember(body: JsonObject, name: string, words: readonly string[] = []): string {
  const value = body[name];
  const refuse = (code: ProblemCode, path: string, message: string): never => {
    throw new InvalidInput(message, { problems: [{ code, path, message }] });
  };
  if (value === undefined || value === null) return refuse('field_required', '', `\`${name}\` is required; add it`);
  if (typeof value !== 'string') return refuse('type_wrong', `/${name}`, `\`${name}\` must be a text`);
  if (words.length > 0 && !words.includes(value))
    return refuse(
      'value_not_allowed',
      `/${name}`,
      `\`${name}\` must be one of ${words.map((word) => `\`${word}\``).join(', ')}`,
    );
  return value === '' ? refuse('value_too_short', `/${name}`, `\`${name}\` must not be empty`) : value;
}

/**
 * Returns a required text of at most `most` characters. Throws `InvalidInput`; a truncated text could be the name of
 * something else.
 */
export function nameMember(body: JsonObject, name: string, most: number): string {
  const value = textMember(body, name);
  if (value.length <= most) return value;
  const message = `\`${name}\` must have at most ${most} characters`;
  throw new InvalidInput(message, { problems: [{ code: 'value_too_long', path: `/${name}`, message }] });
}

/** Returns a required list of at most `most` items. Throws `InvalidInput`. */
export function listMember(body: JsonObject, name: string, most: number): readonly Json[] {
  const list = body[name];
  if (Array.isArray(list) && list.length <= most) return list;
  const message = `\`${name}\` is required: a list of at most ${most}`;
  throw new InvalidInput(message, { problems: [{ code: 'field_required', path: `/${name}`, message }] });
}

/** A malformed body, answered with 400. */
export class BadBody extends Error {
  readonly statusCode = 400;
}

class OtherCharset extends Error {
  readonly statusCode = 415;

  constructor(charset: string) {
    super(
      `the charset ${charset.slice(0, 40)} is not accepted; send the body in UTF-8, with \`charset=utf-8\` or none`,
    );
  }
}

/** Returns the first charset of a content type that is not UTF-8. */
function otherCharsetIn(type: string): string | undefined {
  const charsets = Array.from(type.matchAll(/;\s*charset\s*=\s*"?([^\s;"]*)/gi), ([, charset = '']) => charset);
  return charsets.find((charset) => !/^utf-?8$/i.test(charset));
}

/**
 * Returns the text of a body. Throws `BadBody` for bytes that are not UTF-8: they would be stored as replacement
 * characters, and the original would be lost.
 */
export function textOfBody(body: string | Buffer): string {
  if (typeof body === 'string') return body;
  const text = body.toString('utf8');
  if (isUtf8(body)) return text;
  throw new BadBody(`the body is not valid UTF-8 at byte ${firstFault(body, text)}; encode it as UTF-8`);
}

const replacement = '\ufffd';

/**
 * Returns the offset of the first byte that was replaced. A U+FFFD that the client sent is the same in bytes and text.
 */
function firstFault(bytes: Buffer, text: string): number {
  let [offset, from] = [0, 0];
  for (let at = text.indexOf(replacement); at >= 0; at = text.indexOf(replacement, from)) {
    offset += Buffer.byteLength(text.slice(from, at));
    if (bytes.toString('utf8', offset, offset + 3) !== replacement || bytes[offset] !== 0xef) return offset;
    offset += 3;
    from = at + 1;
  }
  return offset;
}

/** Answers 415 when the content type of a body names another charset than UTF-8. */
export function refuseOtherCharsets(app: FastifyInstance): void {
  app.addHook('preParsing', ({ method, headers }, _reply, payload, next) => {
    // The body of a DELETE is not read.
    const type = method === 'DELETE' ? undefined : headers['content-type'];
    const charset = type === undefined ? undefined : otherCharsetIn(type);
    next(charset === undefined ? null : new OtherCharset(charset), payload);
  });
}
