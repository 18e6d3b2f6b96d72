import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Engine } from '../engine/engine.ts';
import {
  createObject,
  deleteObject,
  listObjects,
  readObject,
  replaceObject,
  type WriteOptions,
  type Written,
} from '../engine/objects.ts';
import type { Kind, Verb } from '../model/kind.ts';
import { lowerToResponse } from '../model/lower/response.ts';
import type { StoredObject } from '../model/object.ts';
import type { Snapshot } from '../model/snapshot.ts';
import { answerFrom, sendAnswer, versionsOf } from './answers.ts';
import { callOf } from './authenticate.ts';
import { objectBody } from './bodies.ts';

type Handler = (engine: Engine, kind: Kind, request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

const handlers: Readonly<
  Record<Verb, { readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'; readonly one: boolean; readonly handle: Handler }>
> = {
  list: { method: 'GET', one: false, handle: list },
  create: { method: 'POST', one: false, handle: create },
  read: { method: 'GET', one: true, handle: read },
  replace: { method: 'PUT', one: true, handle: replace },
  delete: { method: 'DELETE', one: true, handle: remove },
};

/** The routes of every kind that has a path: the declaration says which. */
export function addKindRoutes(app: FastifyInstance, engine: Engine): void {
  for (const kind of engine.registry.kinds) {
    if (kind.path === undefined) continue;
    const collection = kind.path.replace(/\{(\w+)\}/g, ':parent');
    for (const verb of kind.verbs) {
      const { method, one, handle } = handlers[verb];
      app.route({
        method,
        url: one ? `${collection}/:id` : collection,
        handler: (request, reply) => handle(engine, kind, request, reply),
      });
    }
  }
}

interface Params {
  readonly id?: string;
  readonly parent?: string;
}

function paramsOf(request: FastifyRequest): Params {
  // The routes above name these parameters and no others.
  return request.params as Params;
}

async function list(engine: Engine, kind: Kind, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { parent } = paramsOf(request);
  const { objects, state } = await listObjects(engine, callOf(request), kind, parent);
  const filters = filtersOf(kind, request);
  const name = `list ${kind.name} ${parent ?? ''} ${JSON.stringify(filters)}`;
  const answer = answerFrom(state, name, () => {
    const all = objects();
    const wanted = all.filter((object) =>
      filters.every(([field, value]) => String(object.spec[field] ?? '') === value),
    );
    return { version: newest(all), body: wanted.map((object) => lowerToResponse(engine.registry, object, state)) };
  });
  return sendAnswer(request, reply, answer);
}

function filtersOf(kind: Kind, request: FastifyRequest): readonly (readonly [string, string])[] {
  const query = request.query as Readonly<Record<string, unknown>>;
  return (kind.filters ?? []).flatMap((field) =>
    typeof query[field] === 'string' && query[field] !== '' ? [[field, query[field]] as const] : [],
  );
}

function newest(objects: readonly StoredObject[]): number {
  return objects.reduce((version, object) => Math.max(version, object.updatedRevision), 0);
}

async function read(engine: Engine, kind: Kind, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { id = '', parent } = paramsOf(request);
  const { object, state } = await readObject(engine, callOf(request), kind, id, parent);
  return sendObject(engine, object, state, request, reply);
}

async function create(engine: Engine, kind: Kind, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const written = await createObject(
    engine,
    callOf(request),
    kind,
    objectBody(request.body),
    writeOptions(request),
    paramsOf(request).parent,
  );
  return sendWritten(engine, written, request, reply);
}

async function replace(
  engine: Engine,
  kind: Kind,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { id = '', parent } = paramsOf(request);
  const written = await replaceObject(
    engine,
    callOf(request),
    kind,
    id,
    objectBody(request.body),
    writeOptions(request),
    parent,
  );
  return sendWritten(engine, written, request, reply);
}

async function remove(engine: Engine, kind: Kind, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { id = '', parent } = paramsOf(request);
  await deleteObject(engine, callOf(request), kind, id, writeOptions(request), parent);
  return reply.send();
}

function sendWritten(engine: Engine, written: Written, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (written.ignored.length > 0) void reply.header('heddle-ignored', ignoredHeader(written.ignored));
  return sendObject(engine, written.object, written.state, request, reply);
}

/** What clients accept in one header, with room for the others. */
const headerLength = 4000;

/** The JSON pointers of unknown members, percent-encoded; `...` says that there are more. */
function ignoredHeader(pointers: readonly string[]): string {
  const shown: string[] = [];
  let room = headerLength;
  for (const pointer of pointers) {
    const text = encodeURI(pointer).replaceAll(',', '%2C');
    room -= text.length + 2;
    if (room < 0) return [...shown, '...'].join(', ');
    shown.push(text);
  }
  return shown.join(', ');
}

function sendObject(
  engine: Engine,
  object: StoredObject,
  state: Snapshot,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const answer = answerFrom(state, object.id, () => ({
    version: object.updatedRevision,
    body: lowerToResponse(engine.registry, object, state),
  }));
  return sendAnswer(request, reply, answer);
}

function writeOptions(request: FastifyRequest): WriteOptions {
  const ifMatch = versionsOf(request.headers['if-match']);
  const preferences = String(request.headers['prefer'] ?? '');
  return { strict: /\bhandling=strict\b/.test(preferences), ...(ifMatch === undefined ? {} : { ifMatch }) };
}
