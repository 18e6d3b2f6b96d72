import type {
  FastifyContextConfig,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  RouteShorthandOptions,
} from 'fastify';
import type { Call, Engine } from '../../commit/engine.ts';
import type { Done } from '../../commit/idempotency.ts';
import { isObject, type Json, type JsonObject } from '../../lib/json.ts';
import { type AnswerOf, type Area, hasEtag, type InputOf, type Operation } from '../../model/operation/operation.ts';
import { mask } from '../../model/schema/sealing.ts';
import { sendLong } from '../answers/answers.ts';
import type { AreaRoutes, Services } from '../area-routes.ts';
import { callOf } from '../authenticate.ts';
import { keepInstead, type Recover } from '../idempotency.ts';
import { textOfBody } from '../input/bodies.ts';
import { recoverBody, recoverEmpty } from '../recover.ts';
import { readInput } from './input.ts';
import { routeOf } from './route.ts';

/** What a handler is given: the input that the declaration describes, and the request for what no declaration says. */
type Given<O extends Operation> = InputOf<O> & {
  /** On whose behalf. An open operation, or one of the operator, has none: asking for it throws. */
  readonly call: Call;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
};

/** Answers what is declared. What cannot be a value, such as a stream, is sent by the handler itself. */
export type Handle<O extends Operation> = (given: Given<O>) => Result<O> | Promise<Result<O>>;

type Result<O extends Operation> = AnswerOf<O> | FastifyReply;

/** A handler with what its route needs besides. */
interface Handling<O extends Operation> {
  readonly handle: Handle<O>;
  /** Runs before the body is read. */
  readonly onRequest?: NonNullable<RouteShorthandOptions['onRequest']>;
  readonly bodyLimit?: number;
  /** Answers a repetition of a request whose answer was lost; absent: without a body, or with the one that was kept. */
  readonly recover?: (given: Given<O>, done: Done) => Promise<AnswerOf<O> | undefined>;
  /** Throws when the caller may not see again what is shown once; absent: every caller that may call it may. */
  readonly mayRepeat?: (given: Pick<Given<O>, 'call' | 'params' | 'request'>, body: Json) => Promise<void>;
}

type Handlers<A extends Area> = { readonly [Name in keyof A]: Handle<A[Name]> | Handling<A[Name]> };

/** Binds the operations of an area to the functions that carry them out. */
export function implement<A extends Area>(
  area: A,
  make: (engine: Engine, services: Services, app: FastifyInstance) => Handlers<A>,
): AreaRoutes {
  return {
    async add(app, engine, services) {
      const handlers = make(engine, services, app);
      for (const [name, operation] of Object.entries(area)) {
        const handler = handlers[name as keyof A];
        // Each handler takes what its own operation declares, which is what `readInput` reads.
        const handling = (typeof handler === 'function' ? { handle: handler } : handler) as Handling<Operation>;
        if (!hasOwnBodies(operation)) mount(app, operation, handling);
        else
          await app.register(async (scope) => {
            takeBodies(scope, operation);
            mount(scope, operation, handling);
          });
      }
    },
    operations: Object.values(area),
  };
}

const eventStream = 'text/event-stream';

function mount(
  app: FastifyInstance,
  operation: Operation,
  { handle, recover, mayRepeat, ...route }: Handling<Operation>,
) {
  const { access } = operation;
  app.route({
    ...route,
    method: operation.method,
    url: routeOf(operation.path),
    ...(hasHead(operation) ? {} : { exposeHeadRoute: false }),
    config: {
      ...(access === 'operator' ? { server: true } : {}),
      ...(access === 'anyone' || (typeof access === 'object' && 'module' in access) ? { access } : {}),
      ...(operation.plans === true ? { plans: true } : {}),
      ...(operation.profile === undefined ? {} : { profile: operation.profile }),
      ...(operation.starts === true ? { starts: true } : {}),
      ...(operation.method === 'POST' ? { recover: recoverBy(operation, recover) } : {}),
      ...(mayRepeat === undefined ? {} : { mayRepeat: repeatIf(mayRepeat) }),
    },
    async handler(request, reply) {
      const answer = await handle(givenBy(operation, request, reply));
      return isAnswered(reply, answer) ? reply : send(operation, request, reply, answer);
    },
  });
}

/** The head alone would keep a stream open, take what is read once, or start something. */
function hasHead({ answerType, readOnce, starts }: Operation): boolean {
  return answerType !== eventStream && readOnce !== true && starts !== true;
}

/**
 * Whether the handler has sent the answer itself. A reply is a promise of its own end: where a handler returned it, nothing is
 * left of it here, and the answer is sent, or the client has left.
 */
function isAnswered({ sent, raw }: FastifyReply, answer: unknown): boolean {
  return answer === undefined && (sent || raw.headersSent || raw.destroyed);
}

function givenBy(operation: Operation, request: FastifyRequest, reply: FastifyReply): Given<Operation> {
  return {
    ...readInput(operation, request, reply),
    ...{ request, reply },
    get call() {
      return callOf(request);
    },
  };
}

/** Answers a repetition as the handler says; else without a body when there is none, or with the one that was kept for it. */
function recoverBy(operation: Operation, recover: Handling<Operation>['recover']): Recover {
  const isEmpty = operation.answer === undefined && operation.headers === undefined;
  if (recover === undefined) return isEmpty ? recoverEmpty : recoverBody;
  return (request, reply, done) => {
    if (operation.status !== undefined) void reply.code(operation.status);
    return recover(givenBy(operation, request, reply), done);
  };
}

function repeatIf(
  mayRepeat: NonNullable<Handling<Operation>['mayRepeat']>,
): NonNullable<FastifyContextConfig['mayRepeat']> {
  return (request, body) => {
    const { params } = request as { readonly params: InputOf<Operation>['params'] };
    return mayRepeat({ request, params, call: callOf(request) }, body);
  };
}

/** Sends what a handler answered, with the headers that the declaration wants. */
function send(operation: Operation, request: FastifyRequest, reply: FastifyReply, answer: unknown) {
  const { shownOnce, noStore, readOnce, status } = operation;
  if (status !== undefined) void reply.code(status);
  if (noStore === true || readOnce === true) void reply.header('cache-control', 'no-store');
  if (operation.answer === undefined) return reply.send();
  if (operation.answerType !== undefined) return reply.type(`${operation.answerType}; charset=utf-8`).send(answer);
  // By its type it is what a field declares, which is JSON.
  const body = answer as Json;
  if (shownOnce !== undefined && isObject(body)) showOnce(shownOnce, request, reply, body);
  return hasEtag(operation) ? sendLong(request, reply, { version: 0, body }) : reply.send(body);
}

/** Keeps a member of the answer, where it is there, from caches and repetitions. */
function showOnce(member: string, request: FastifyRequest, reply: FastifyReply, body: JsonObject): void {
  const { [member]: shown, ...rest } = body;
  if (shown === undefined) return;
  void reply.header('cache-control', 'no-store');
  keepInstead(request, typeof shown === 'string' ? { ...body, [member]: mask } : rest);
}

/** Whether an operation takes bodies that others do not take. */
function hasOwnBodies({ textBody, bytesBody }: Operation): boolean {
  return textBody !== undefined || bytesBody !== undefined;
}

/** Has a scope take the bodies of an operation, beside those of JSON. */
function takeBodies(scope: FastifyInstance, { textBody, bytesBody }: Operation): void {
  if (textBody !== undefined)
    scope.addContentTypeParser([...textBody.types], { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) =>
      textBody.as(textOfBody(body)),
    );
  if (bytesBody === undefined) return;
  // What is taken of any type is not read as JSON either.
  if (bytesBody.types.includes('*')) scope.removeAllContentTypeParsers();
  scope.addContentTypeParser([...bytesBody.types], { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
}
