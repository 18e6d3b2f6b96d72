import type {
  FastifyContextConfig,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  RouteShorthandOptions,
} from 'fastify';
import type { Call, Engine } from '../../commit/engine.ts';
import type { EarlierEffects } from '../../commit/idempotency.ts';
import { isObject, type Json, type JsonObject } from '../../lib/json.ts';
import { type AnswerOf, type Area, hasEtag, type InputOf, type Operation } from '../../model/operation/operation.ts';
import { mask } from '../../model/schema/sealing.ts';
import { sendLong } from '../answers/answers.ts';
import type { AreaRoutes, Services } from '../area-routes.ts';
import { callOf } from '../authenticate.ts';
import { type Recover, setStoredBody } from '../idempotency.ts';
import { textOfBody } from '../input/bodies.ts';
import { recoverBody, recoverEmpty } from '../recover.ts';
import { readInput } from './input.ts';
import { routeOf } from './route.ts';

/** Arguments of a handler: the declared input, and the request for everything that is not declared. */
type HandlerInput<O extends Operation> = InputOf<O> & {
  /** The caller. Throws in open operations and in operations of the operator, which have none. */
  readonly call: Call;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
};

/**
 * Handles a request and returns the declared answer. An answer that is not a value, such as a stream, is sent by the
 * handler.
 */
export type Handle<O extends Operation> = (given: HandlerInput<O>) => Result<O> | Promise<Result<O>>;

type Result<O extends Operation> = AnswerOf<O> | FastifyReply;

/** A handler with the options of its route. */
interface HandlerWithOptions<O extends Operation> {
  readonly handle: Handle<O>;
  /** Runs before the body is read. */
  readonly onRequest?: NonNullable<RouteShorthandOptions['onRequest']>;
  /** Maximum size of the body, in bytes. Absent: 1 MiB, or `openBodyLimit` for an open operation. */
  readonly bodyLimit?: number;
  /**
   * Rebuilds the answer to a repeated request when the first answer was lost. Absent: the repeated answer has no body,
   * or the stored body.
   */
  readonly recover?: (given: HandlerInput<O>, done: EarlierEffects) => Promise<AnswerOf<O> | undefined>;
  /**
   * Throws when the caller may not see the values again that are shown once. Absent: every caller that may call the
   * route may see them.
   */
  readonly mayRepeat?: (given: Pick<HandlerInput<O>, 'call' | 'params' | 'request'>, body: Json) => Promise<void>;
}

type Handlers<A extends Area> = { readonly [Name in keyof A]: Handle<A[Name]> | HandlerWithOptions<A[Name]> };

/** Binds the operations of an area to their handlers. */
export function implement<A extends Area>(
  area: A,
  make: (engine: Engine, services: Services, app: FastifyInstance) => Handlers<A>,
): AreaRoutes {
  return {
    async add(app, engine, services) {
      const handlers = make(engine, services, app);
      for (const [name, operation] of Object.entries(area)) {
        const handler = handlers[name as keyof A];
        // Each handler takes the input that its own operation declares, and `readInput` reads exactly that.
        const handling = (
          typeof handler === 'function' ? { handle: handler } : handler
        ) as HandlerWithOptions<Operation>;
        if (!hasOwnBodies(operation)) mount(app, operation, handling);
        else
          await app.register(async (scope) => {
            addBodyParsers(scope, operation);
            mount(scope, operation, handling);
          });
      }
    },
    operations: Object.values(area),
  };
}

const eventStream = 'text/event-stream';

/**
 * Maximum size of the body of an open operation that states no other, in bytes. Anyone may send such a body, and these
 * operations take a few short texts.
 */
const openBodyLimit = 16 * 1024;

function mount(
  app: FastifyInstance,
  operation: Operation,
  { handle, recover, mayRepeat, ...route }: HandlerWithOptions<Operation>,
) {
  const { access } = operation;
  app.route({
    ...(typeof access === 'object' && 'open' in access ? { bodyLimit: openBodyLimit } : {}),
    ...route,
    method: operation.method,
    url: routeOf(operation.path),
    ...(hasHead(operation) ? {} : { exposeHeadRoute: false }),
    config: {
      ...(access === 'operator' ? { server: true } : {}),
      ...(access === 'anyone' || (typeof access === 'object' && 'module' in access) ? { access } : {}),
      ...(operation.plans === true ? { plans: true } : {}),
      ...(operation.profile === undefined ? {} : { profile: operation.profile }),
      ...(operation.hasSideEffects === true ? { starts: true } : {}),
      ...(operation.method === 'POST' ? { recover: createRecover(operation, recover) } : {}),
      ...(mayRepeat === undefined ? {} : { mayRepeat: adaptMayRepeat(mayRepeat) }),
    },
    async handler(request, reply) {
      const answer = await handle(handlerInputOf(operation, request, reply));
      return isAnswered(reply, answer) ? reply : send(operation, request, reply, answer);
    },
  });
}

/**
 * Whether the operation also answers HEAD. A HEAD request would keep a stream open, consume an answer that can be read
 * once, or start an action.
 */
function hasHead({ answerType, readOnce, hasSideEffects }: Operation): boolean {
  return answerType !== eventStream && readOnce !== true && hasSideEffects !== true;
}

/**
 * Whether the handler has sent the answer itself. A handler that returns the reply yields `undefined` here, because a
 * reply is a promise that resolves when it was sent or the client disconnected.
 */
function isAnswered({ sent, raw }: FastifyReply, answer: unknown): boolean {
  return answer === undefined && (sent || raw.headersSent || raw.destroyed);
}

function handlerInputOf(operation: Operation, request: FastifyRequest, reply: FastifyReply): HandlerInput<Operation> {
  return {
    ...readInput(operation, request, reply),
    ...{ request, reply },
    get call() {
      return callOf(request);
    },
  };
}

/**
 * Returns the function that rebuilds a lost answer: the handler's own. Without one, the answer is empty if none is
 * declared, otherwise the stored body.
 */
function createRecover(operation: Operation, recover: HandlerWithOptions<Operation>['recover']): Recover {
  const isEmpty = operation.answer === undefined && operation.headers === undefined;
  if (recover === undefined) return isEmpty ? recoverEmpty : recoverBody;
  return (request, reply, done) => {
    if (operation.status !== undefined) void reply.code(operation.status);
    return recover(handlerInputOf(operation, request, reply), done);
  };
}

function adaptMayRepeat(
  mayRepeat: NonNullable<HandlerWithOptions<Operation>['mayRepeat']>,
): NonNullable<FastifyContextConfig['mayRepeat']> {
  return (request, body) => {
    const { params } = request as { readonly params: InputOf<Operation>['params'] };
    return mayRepeat({ request, params, call: callOf(request) }, body);
  };
}

/** Sends the answer of a handler, with the headers that the operation declares. */
function send(operation: Operation, request: FastifyRequest, reply: FastifyReply, answer: unknown) {
  const { shownOnce, noStore, readOnce, status } = operation;
  if (status !== undefined) void reply.code(status);
  if (noStore === true || readOnce === true) void reply.header('cache-control', 'no-store');
  if (operation.answer === undefined) return reply.send();
  if (operation.answerType !== undefined) return reply.type(`${operation.answerType}; charset=utf-8`).send(answer);
  // The declared answer is JSON.
  const body = answer as Json;
  if (shownOnce !== undefined && isObject(body)) excludeFromStorage(shownOnce, request, reply, body);
  return hasEtag(operation) ? sendLong(request, reply, { version: 0, body }) : reply.send(body);
}

/** Excludes a member of the answer, if present, from caches and from the answer that is stored for repetitions. */
function excludeFromStorage(member: string, request: FastifyRequest, reply: FastifyReply, body: JsonObject): void {
  const { [member]: shown, ...rest } = body;
  if (shown === undefined) return;
  void reply.header('cache-control', 'no-store');
  setStoredBody(request, typeof shown === 'string' ? { ...body, [member]: mask } : rest);
}

/** Whether an operation accepts bodies of other content types than JSON. */
function hasOwnBodies({ textBody, bytesBody }: Operation): boolean {
  return textBody !== undefined || bytesBody !== undefined;
}

/** Adds parsers for the content types of an operation to a scope, in addition to JSON. */
function addBodyParsers(scope: FastifyInstance, { textBody, bytesBody }: Operation): void {
  if (textBody !== undefined)
    scope.addContentTypeParser([...textBody.types], { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) =>
      textBody.toJson(textOfBody(body)),
    );
  if (bytesBody === undefined) return;
  // A route that accepts every content type must not parse JSON either.
  if (bytesBody.types.includes('*')) scope.removeAllContentTypeParsers();
  scope.addContentTypeParser([...bytesBody.types], { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
}
