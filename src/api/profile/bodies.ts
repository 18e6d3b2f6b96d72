import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Engine } from '../../commit/engine.ts';
import { runNowOrInSlices } from '../../commit/slices.ts';
import { asObjects, isObject, type Json, type JsonObject, parseJson } from '../../lib/json.ts';
import { jsonInSteps, mapInSteps } from '../../lib/steps.ts';
import { nounOf } from '../../model/declare/kind-noun.ts';
import { Conflict, InvalidInput } from '../../model/errors.ts';
import { lowerToResponse } from '../../model/lower/response.ts';
import { callOf } from '../authenticate.ts';
import type { Describe } from '../description.ts';
import { etagIn } from './profile.ts';
import type { Shape } from './shape.ts';
import type { GuardRow, StatusRow } from './table.ts';
import { toProfile, toSpecification } from './translate.ts';
import { type Translation, translationsOf } from './translations.ts';

/** Translates the bodies of requests from their profile. `describe` makes the description of the specification. */
export function translateRequests(app: FastifyInstance, engine: Engine, describe: Describe): void {
  const translationOf = createTranslationFinder(describe);
  app.addHook('preValidation', async (request) => {
    const translation = await translationOf(request);
    for (const guard of translation?.guards ?? []) await guardEntries(engine, guard, request);
    const shape = translation?.request;
    if (shape === undefined || !isObject(request.body)) return;
    const findings = { problems: [], unlimited: [] };
    // The body is plain data.
    request.body = toSpecification(shape, request.body as Json, findings);
    request.unlimited = findings.unlimited;
    refuse(findings.problems);
  });
}

/**
 * Refuses a replace that would drop entries which its client may not know. A client that sends `If-Match` has read
 * them, or is refused as stale.
 */
async function guardEntries(engine: Engine, { kind, list }: GuardRow, request: FastifyRequest): Promise<void> {
  const given = isObject(request.body) ? request.body[list] : undefined;
  if (!Array.isArray(given) || request.headers['if-match'] !== undefined) return;
  const { account, revision } = callOf(request);
  const state = await engine.snapshots.atLeast(account, revision);
  const [id = ''] = Object.values(request.params as Readonly<Record<string, string>>);
  const stored = state.find(kind, id);
  // A missing object is refused later, with 404.
  if (stored === undefined) return;
  const entries = asObjects(lowerToResponse(engine.registry, stored, state)[list] ?? []);
  if (given.length >= entries.length) return;
  const sent = new Set(given.map((entry: unknown) => (isObject(entry) ? entry['id'] : undefined)));
  const dropped = entries
    .filter((entry) => !sent.has(entry['id']))
    .map((entry) => `\`${entry['name']}\` (${entry['id']})`);
  if (dropped.length === 0) return;
  throw new Conflict(
    'refused',
    `${nounOf(kind)} ${id} has ${entries.length} ${list}, and the request would drop ${dropped.join(', ')}; send all of them, or, to drop them, send \`If-Match\` with the ETag that you read`,
  );
}

function refuse(problems: InvalidInput['problems']): void {
  if (problems.length > 0) throw new InvalidInput(problems.map(({ message }) => message).join('; '), { problems });
}

/**
 * Translates answers into their profile. Must run after all hooks that store or compare answers: these work with the
 * specification.
 */
export function translateAnswers(app: FastifyInstance, describe: Describe): void {
  const translationOf = createTranslationFinder(describe);
  app.addHook('onSend', async (request, reply, payload) => {
    if (request.profile === 'specification') return payload;
    const etag = reply.getHeader('etag');
    if (etag !== undefined) void reply.header('etag', etagIn(request, String(etag)));
    const translation = await translationOf(request);
    if (translation === undefined || typeof payload !== 'string' || !isJson(reply)) return payload;
    return translated(translation, { request, reply, payload });
  });
}

function createTranslationFinder(describe: Describe) {
  return async ({ profile, method, routeOptions }: FastifyRequest): Promise<Translation | undefined> =>
    profile === 'specification' ? undefined : translationsOf(await describe()).find(method, routeOptions.url ?? '');
}

function isJson(reply: FastifyReply): boolean {
  return String(reply.getHeader('content-type') ?? '').startsWith('application/json');
}

/** An answer that is about to be sent. */
interface Sent {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly payload: string;
}

async function translated(translation: Translation, sent: Sent): Promise<string> {
  const { reply, payload } = sent;
  const { statusCode: status } = reply;
  const row = translation.statuses.find((one) => one.from === status && appliesTo(one, sent));
  if (row !== undefined) return withStatus(row, sent);
  if (status >= 400) return JSON.stringify(translateRefusal(translation, parseJson(payload)));
  const { answer } = translation;
  return answer === undefined ? payload : runNowOrInSlices(translateInSteps(answer, parseJson(payload)));
}

function* translateInSteps(shape: Shape, body: Json): Generator<undefined, string> {
  if (!Array.isArray(body)) return yield* jsonInSteps(toProfile(shape, body));
  const { items } = shape;
  return yield* jsonInSteps(
    items === undefined ? body : yield* mapInSteps(body, (item: Json) => toProfile(items, item)),
  );
}

function appliesTo({ message, none }: StatusRow, { request, payload }: Sent): boolean {
  // A later page may be empty although there are objects with this name.
  if (none !== undefined)
    return (
      payload === '[]' &&
      parameterOf(request, none.parameter) !== undefined &&
      parameterOf(request, 'after') === undefined
    );
  const body = message === undefined ? undefined : parseJson(payload);
  return message === undefined || (isObject(body) && String(body['message']).startsWith(message));
}

function parameterOf({ query }: FastifyRequest, name: string): Json | undefined {
  // A query is an object of texts.
  return (query as JsonObject)[name];
}

function withStatus({ to, body, none }: StatusRow, { request, reply, payload }: Sent): string {
  void reply.code(to).removeHeader('content-length');
  if (none !== undefined) {
    // A missing object has no version.
    void reply.removeHeader('etag');
    return JSON.stringify({ message: `${none.what}: ${parameterOf(request, none.parameter)} not found`, code: to });
  }
  return body === undefined
    ? JSON.stringify({ ...(parseJson(payload) as JsonObject), code: to })
    : JSON.stringify(body);
}

/** Translates the names of members in a refusal to those that the caller uses. */
function translateRefusal({ request }: Translation, body: Json): Json {
  const names = request === undefined ? [] : namesIn(request);
  if (names.length === 0) return body;
  const rename = (text: string) =>
    names.reduce((named, { ours, theirs }) => named.replaceAll(`\`${ours}\``, `\`${theirs}\``), text);
  return rewriteTexts(body, (name, text) => (name === 'path' ? renameInPointer(text, names) : rename(text)));
}

interface Name {
  readonly ours: string;
  readonly theirs: string;
}

function renameInPointer(pointer: string, names: readonly Name[]): string {
  return pointer
    .split('/')
    .map((part) => names.find(({ ours }) => ours === part)?.theirs ?? part)
    .join('/');
}

function namesIn({ renamed, members, items }: Shape): readonly Name[] {
  const inner = [...members.values(), ...(items === undefined ? [] : [items])].flatMap(namesIn);
  return [...renamed, ...inner];
}

/** Rewrites the `message` and `path` members of a refusal and of its problems with `become`. */
function rewriteTexts(value: Json, become: (name: string, text: string) => string): Json {
  if (Array.isArray(value)) return value.map((item: Json) => rewriteTexts(item, become));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value as JsonObject).map(([name, member]) => {
      if ((name === 'path' || name === 'message') && typeof member === 'string') return [name, become(name, member)];
      return [name, name === 'problems' ? rewriteTexts(member, become) : member];
    }),
  );
}
