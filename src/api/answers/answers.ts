import type { FastifyReply, FastifyRequest } from 'fastify';
import { runNowOrInSlices } from '../../commit/slices.ts';
import type { Json } from '../../lib/json.ts';
import { sha256InSteps } from '../../lib/node-pure.ts';
import { jsonInSteps, runToEnd, splitText } from '../../lib/steps.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import { etagIn } from '../profile/profile.ts';

/** A serialised JSON answer with its ETag. */
export interface Answer {
  readonly text: string;
  readonly etag: string;
  /** `Link` header to the next page. */
  readonly link?: string;
}

/** Maximum number of cached answers per state of an account. */
const maxCachedAnswers = 20_000;

const cache = new WeakMap<Snapshot, Map<string, Answer | Promise<Answer>>>();

/** The content of an answer: the version of its data, and the body. */
export interface Content {
  readonly version: number;
  readonly body: Json;
  readonly link?: string;
}

/**
 * Content of an answer, or a generator that makes it. The generator yields regularly, so that other requests are
 * handled in between.
 */
export type AnswerWork = Content | Generator<undefined, Content | Answer>;

/**
 * Returns the answer about a state. It is made only once, because a state never changes, and in slices. `name` is
 * unique among the answers of a state.
 */
export function cachedAnswer(state: Snapshot, name: string, make: () => AnswerWork): Answer | Promise<Answer> {
  let known = cache.get(state);
  if (known === undefined) {
    known = new Map();
    cache.set(state, known);
  }
  const present = known.get(name);
  if (present !== undefined) return present;
  const answer = runNowOrInSlices(answerInSteps(make()));
  if (known.size < maxCachedAnswers) cacheAnswer(known, name, answer);
  return answer;
}

/** Caches an answer. An answer that could not be made is removed, so that the next request tries again. */
function cacheAnswer(
  known: Map<string, Answer | Promise<Answer>>,
  name: string,
  answer: Answer | Promise<Answer>,
): void {
  known.set(name, answer);
  if (!(answer instanceof Promise)) return;
  answer.then(
    (made) => known.set(name, made),
    () => known.delete(name),
  );
}

/** Serialises a short answer. The ETag consists of the version and a hash of the body and the link. */
export function makeAnswer(made: Content): Answer {
  return runToEnd(answerInSteps(made));
}

/** Serialises an answer in slices, since it may be long. */
export function makeLongAnswer(make: AnswerWork): Answer | Promise<Answer> {
  return runNowOrInSlices(answerInSteps(make));
}

function* answerInSteps(make: AnswerWork): Generator<undefined, Answer> {
  const made = 'version' in make ? make : yield* make;
  if ('text' in made) return made;
  const { version, body, link } = made;
  const text = yield* jsonInSteps(body);
  const etag = yield* etagInSteps(version, text, link);
  return link === undefined ? { text, etag } : { text, etag, link };
}

/** Returns the ETag of a body: its version and a hash. */
export function etagOf(version: number, text: string): string {
  return runToEnd(etagInSteps(version, text));
}

/**
 * Makes the ETag of a body that may be long. The hash includes the link to the next page, and with it whether the page
 * is the last one.
 */
export function* etagInSteps(version: number, text: string, link = ''): Generator<undefined, string> {
  const hash = yield* sha256InSteps(partsOf(text, link));
  return `"${version}.${hash.slice(0, 16)}"`;
}

function* partsOf(...texts: readonly string[]): Generator<string> {
  for (const text of texts) yield* splitText(text);
}

/** Sends an answer that may be long, serialised in slices, or 304 when the client has it. */
export async function sendLong(request: FastifyRequest, reply: FastifyReply, content: Content): Promise<FastifyReply> {
  return sendAnswer(request, reply, await runNowOrInSlices(answerInSteps(content)));
}

/** Sends an answer, or 304 when the client has it. */
export function sendAnswer(request: FastifyRequest, reply: FastifyReply, answer: Answer): FastifyReply {
  void reply.header('etag', answer.etag);
  if (answer.link !== undefined) void reply.header('link', answer.link);
  if (isNotModified(request, answer.etag)) return reply.code(304).send();
  return reply.header('content-type', 'application/json; charset=utf-8').send(answer.text);
}

/** Whether the client already has the body with this ETag. */
export function isNotModified({ method, headers, profile }: FastifyRequest, etag: string): boolean {
  const known = headers['if-none-match'];
  return ['GET', 'HEAD'].includes(method) && known !== undefined && matches(known, etagIn({ profile }, etag));
}

function matches(header: string, etag: string): boolean {
  const plain = (tag: string) => tag.trim().replace(/^W\//, '');
  return header.split(',').some((item) => item.trim() === '*' || plain(item) === plain(etag));
}

/**
 * Returns the versions in an `If-Match` header. A tag that this server did not make becomes an empty text, which
 * matches nothing.
 */
export function versionsOf(header: string | undefined): readonly string[] | undefined {
  if (header === undefined) return undefined;
  return header.split(',').map((item) => (item.trim() === '*' ? '*' : (/^"(\d+)\./.exec(item.trim())?.[1] ?? '')));
}
