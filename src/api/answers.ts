import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Json } from '../lib/json.ts';
import { sha256 } from '../lib/node-pure.ts';
import type { Snapshot } from '../model/snapshot.ts';

/** A JSON answer that is ready to be sent, with its ETag. */
export interface Answer {
  readonly text: string;
  readonly etag: string;
  /** Where the next page is. */
  readonly link?: string;
}

/** How many answers are kept for one state of an account. */
const capacity = 20_000;

const cache = new WeakMap<Snapshot, Map<string, Answer>>();

/** What an answer is made of: the version of what it tells, and the body. */
export interface Content {
  readonly version: number;
  readonly body: Json;
  readonly link?: string;
}

/** The answer about a state; made once, because a state never changes. `name` is unique among the answers of a state. */
export function answerFrom(state: Snapshot, name: string, make: () => Content | Answer): Answer {
  let known = cache.get(state);
  if (known === undefined) {
    known = new Map();
    cache.set(state, known);
  }
  const present = known.get(name);
  if (present !== undefined) return present;
  const answer = makeAnswer(make());
  if (known.size < capacity) known.set(name, answer);
  return answer;
}

/** Serialises an answer; the ETag is the version and a hash of the whole body. */
export function makeAnswer(made: Content | Answer): Answer {
  if ('text' in made) return made;
  return {
    ...textAnswer(made.version, JSON.stringify(made.body)),
    ...(made.link === undefined ? {} : { link: made.link }),
  };
}

/** An answer whose body is JSON text already. */
export function textAnswer(version: number, text: string): Answer {
  return { text, etag: etagOf(version, text) };
}

/** The ETag of a body. */
export function etagOf(version: number, text: string): string {
  return `"${version}.${sha256(text).slice(0, 16)}"`;
}

/** Sends an answer, or 304 when the client has it. */
export function sendAnswer(request: FastifyRequest, reply: FastifyReply, answer: Answer): FastifyReply {
  void reply.header('etag', answer.etag);
  if (answer.link !== undefined) void reply.header('link', answer.link);
  if (isKnown(request, answer.etag)) return reply.code(304).send();
  return reply.header('content-type', 'application/json; charset=utf-8').send(answer.text);
}

/** Whether whoever reads has the body of this ETag already. */
export function isKnown({ method, headers }: FastifyRequest, etag: string): boolean {
  const known = headers['if-none-match'];
  return ['GET', 'HEAD'].includes(method) && known !== undefined && matches(known, etag);
}

function matches(header: string, etag: string): boolean {
  return header.split(',').some((item) => item.trim() === '*' || item.trim().replace(/^W\//, '') === etag);
}

/** The versions that `If-Match` names; a part of an ETag that is not ours matches nothing. */
export function versionsOf(header: string | undefined): readonly string[] | undefined {
  if (header === undefined) return undefined;
  return header.split(',').map((item) => (item.trim() === '*' ? '*' : (/^"(\d+)\./.exec(item.trim())?.[1] ?? '')));
}
