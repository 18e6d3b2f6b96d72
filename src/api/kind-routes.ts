import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Call, Engine } from '../commit/engine.ts';
import { retryAfterWrite } from '../commit/in-doubt.ts';
import type { JsonObject } from '../lib/json.ts';
import type { Kind, Verb } from '../model/declare/kind.ts';
import { nounOf } from '../model/declare/kind-noun.ts';
import type { Operation } from '../model/declare/roles.ts';
import { storedId } from '../model/declare/wire-id.ts';
import { NotFound } from '../model/errors.ts';
import { lowerToResponse } from '../model/lower/response.ts';
import { mask } from '../model/schema/sealing.ts';
import { hasSecrets, mapSecrets } from '../model/schema/secret-fields.ts';
import {
  createObject,
  deleteObject,
  listObjects,
  readObject,
  replaceObject,
  type WriteOptions,
  type WriteResult,
} from '../objects/objects.ts';
import { requireRight } from '../plan/checks/authorize.ts';
import { makeAnswer, sendAnswer, versionsOf } from './answers/answers.ts';
import { callOf, type RequiredAccess, writeAsCaller } from './authenticate.ts';
import { breakGlassOf } from './break-glass.ts';
import { addIgnoredHeader, isStrict } from './headers.ts';
import { setStoredBody } from './idempotency.ts';
import { objectBody } from './input/bodies.ts';
import { isVolatile, restrictedCallerId, sendObject, withObservations } from './kind-answers.ts';
import { sendList } from './kind-lists.ts';
import { recoverCreated } from './recover.ts';

type Handler = (engine: Engine, kind: Kind, request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

interface VerbRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly one: boolean;
  readonly handle: Handler;
  /** Whether `handle` uses `writeAsCaller`. */
  readonly writesAsCaller: boolean;
}

const handlers: Readonly<Record<Verb, VerbRoute>> = {
  list: { method: 'GET', one: false, handle: list, writesAsCaller: false },
  create: { method: 'POST', one: false, handle: create, writesAsCaller: true },
  read: { method: 'GET', one: true, handle: read, writesAsCaller: false },
  replace: { method: 'PUT', one: true, handle: replace, writesAsCaller: true },
  delete: { method: 'DELETE', one: true, handle: remove, writesAsCaller: true },
};

/** Adds the routes of every kind that has a path, as its declaration states. */
export function addKindRoutes(app: FastifyInstance, engine: Engine, makers: Makers = {}): void {
  for (const kind of engine.registry.kinds) {
    if (kind.path === undefined) continue;
    for (const path of [kind.path, ...(kind.aliasPaths ?? [])]) addVerbs(app, { engine, makers }, kind, path);
    if (kind.listPath !== undefined) {
      app.get(kind.listPath, { config: { access: accessOf(kind, 'list') } }, (request, reply) =>
        list(engine, requireAvailable(engine, kind), request, reply),
      );
    }
  }
}

/** Creates an object of a kind. `notice` is sent to the caller. */
type Maker = (
  call: Call,
  body: JsonObject,
  options: WriteOptions,
) => Promise<WriteResult & { readonly notice?: string }>;

/** Functions that create objects, by kind: for kinds of which storing the object is not enough. */
export type Makers = Readonly<Record<string, Maker>>;

interface RouteContext {
  readonly engine: Engine;
  readonly makers: Makers;
}

function addVerbs(app: FastifyInstance, { engine, makers }: RouteContext, kind: Kind, path: string): void {
  const collection = path.replace(/\{(\w+)\}/g, ':parent');
  for (const verb of kind.verbs) {
    const { method, one, handle, writesAsCaller } = handlers[verb];
    const maker = verb === 'create' ? makers[kind.name] : undefined;
    const url = one && kind.single !== true ? `${collection}/:id` : collection;
    app.route({
      method,
      url,
      config: {
        access: accessOf(kind, verb),
        ...(verb === 'create' ? { recover: recoverCreated(engine, kind) } : {}),
        ...(writesAsCaller && maker === undefined && isAddressedById(kind)
          ? { checksTokenAtCommit: true as const }
          : {}),
      },
      handler: (request, reply) => {
        if (maker !== undefined) return createWithMaker(engine, maker, request, reply);
        return handle(engine, requireAvailable(engine, kind), request, reply);
      },
    });
  }
}

async function createWithMaker(
  engine: Engine,
  make: Maker,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const made = await make(callOf(request), objectBody(request.body), writeOptions(request));
  if (made.notice !== undefined) void reply.header('heddle-notice', made.notice);
  return sendWritten(engine, made, request, reply);
}

const operationOf: Readonly<Record<Verb, Operation>> = {
  list: 'read',
  create: 'create',
  read: 'read',
  replace: 'update',
  delete: 'delete',
};

function accessOf(kind: Kind, verb: Verb): RequiredAccess {
  const operation = operationOf[verb];
  const own = operation === 'read' && kind.isOwn !== undefined ? { own: true as const } : {};
  return { module: kind.module, operation, ...own };
}

/**
 * Returns the kind. Throws `NotFound` with the reason when only the hosted edition has the kind, and this server runs
 * another edition.
 */
function requireAvailable(engine: Engine, kind: Kind): Kind {
  if (kind.edition !== 'hosted' || engine.planEnvironment.edition === 'hosted') return kind;
  throw new NotFound(
    `${nounOf(kind.name)} not found: it exists in the hosted edition only, and this server runs the self-hosted one`,
  );
}

interface Params {
  readonly id?: string;
  readonly parent?: string;
}

function paramsOf(request: FastifyRequest): Params {
  // The routes above declare these parameters and no others.
  return request.params as Params;
}

/** Whether paths contain the ids of objects, so that no state of the account is needed to know which object is meant. */
function isAddressedById({ single, addressedBy }: Kind): boolean {
  return single !== true && addressedBy === undefined;
}

/** Returns the stored id of the object that a request names. For a kind with a single object, the id of that object. */
async function idOf(engine: Engine, kind: Kind, request: FastifyRequest): Promise<string> {
  const { id = '' } = paramsOf(request);
  if (kind.single === true) return onlyId(engine, kind, request);
  const stored = kind.addressedBy === undefined ? storedId(kind, id) : await holderId(engine, kind, id, request);
  if (stored === undefined) throw new NotFound(`${nounOf(kind.name)} ${id} not found`);
  return stored;
}

/**
 * Returns the id of the single object, or an empty text when the object is implied and not stored. Throws `NotFound`
 * without an object.
 */
async function onlyId(engine: Engine, kind: Kind, request: FastifyRequest): Promise<string> {
  const [only] = (await listObjects(engine, callOf(request), kind)).objects();
  if (only === undefined && kind.alwaysExists !== true)
    throw new NotFound(`${nounOf(kind.name)} not found: none exists; create it with POST`);
  return only?.id ?? '';
}

/**
 * Returns the id of the object with the unique value that the kind's paths contain instead of an id (`addressedBy`).
 */
async function holderId(engine: Engine, kind: Kind, value: string, request: FastifyRequest) {
  const { state } = await listObjects(engine, callOf(request), kind);
  return state.findByUnique(kind.name, kind.addressedBy ?? '', value)?.id;
}

function list(engine: Engine, kind: Kind, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  return sendList(engine, kind, request, reply, paramsOf(request).parent);
}

async function read(engine: Engine, kind: Kind, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { parent } = paramsOf(request);
  const id = await idOf(engine, kind, request);
  const { object, state } = await readObject(engine, callOf(request), kind, id, parent);
  const viewer = restrictedCallerId(kind, request, state);
  if (viewer !== undefined && kind.isOwn?.(object, viewer, state) !== true)
    requireRight(state, callOf(request).actor, kind.module, 'read');
  return sendObject(engine, object, state, request, reply);
}

async function create(engine: Engine, kind: Kind, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { parent } = paramsOf(request);
  const written = await writeAsCaller(request, (call) =>
    createObject(engine, call, kind, objectBody(request.body), writeOptions(request), parent),
  );
  return sendWritten(engine, written, request, reply);
}

async function replace(
  engine: Engine,
  kind: Kind,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { parent } = paramsOf(request);
  const id = await idOf(engine, kind, request);
  const written = await writeAsCaller(request, (call) =>
    replaceObject(engine, call, kind, id, objectBody(request.body), writeOptions(request), parent),
  );
  return sendWritten(engine, written, request, reply);
}

async function remove(engine: Engine, kind: Kind, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { parent } = paramsOf(request);
  const id = await idOf(engine, kind, request);
  await writeAsCaller(request, (call) => deleteObject(engine, call, kind, id, writeOptions(request), parent));
  if (kind.deleteReply === 'no_content') void reply.code(204);
  return kind.deleteReply === 'object' ? reply.send({}) : reply.send();
}

/**
 * Sends the object that was written. If reading the rest of the answer fails because the database is away, it is read
 * again: the write has already succeeded.
 */
export async function sendWritten(
  engine: Engine,
  written: WriteResult,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  return retryAfterWrite(() => showWritten(engine, written, request, reply));
}

async function showWritten(
  engine: Engine,
  written: WriteResult,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  addIgnoredHeader(reply, written.ignored);
  if (written.notices !== undefined && written.notices.length > 0)
    void reply.header('heddle-notice', written.notices.join('; '));
  const kind = engine.registry.get(written.object.kind);
  if (Object.keys(written.outputs).length === 0) {
    if (request.repeatable !== undefined && hasSecrets(kind.spec))
      setStoredBody(request, withoutSecrets(engine, kind, written));
    return sendObject(engine, written.object, written.state, request, reply);
  }
  const viewing = { viewer: callOf(request).actor.id, answerKind: 'one' } as const;
  const seen = isVolatile(kind) ? await withObservations(engine, kind, written.state, viewing) : written.state;
  const shown = lowerToResponse(engine.registry, written.object, seen);
  const body = { ...shown, ...written.outputs };
  setStoredBody(request, shown);
  return sendAnswer(
    request,
    reply.header('cache-control', 'no-store'),
    makeAnswer({ version: written.object.updatedRevision, body }),
  );
}

/** Returns the body of the answer, with sealed values masked. */
function withoutSecrets({ registry }: Engine, kind: Kind, { object, state }: WriteResult): JsonObject {
  return mapSecrets(kind.spec, lowerToResponse(registry, object, state), () => mask);
}

/** Returns the options of a write that its headers state. */
export function writeOptions(request: FastifyRequest): WriteOptions {
  const ifMatch = versionsOf(request.headers['if-match']);
  const breakGlass = breakGlassOf(request);
  return {
    strict: isStrict(request),
    ...(request.unlimited === undefined ? {} : { unlimited: request.unlimited }),
    ...(ifMatch === undefined ? {} : { ifMatch }),
    ...(breakGlass === undefined ? {} : { breakGlass }),
  };
}
