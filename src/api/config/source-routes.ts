import type { FastifyInstance } from 'fastify';
import {
  createSource,
  deleteSource,
  detachSource,
  findDetached,
  replaceSource,
  requestSourceReconcile,
  setSourceSuspended,
  showSource,
} from '../../features/sources/source-admin.ts';
import { sourceStatuses } from '../../features/sources/status.ts';
import { callOf } from '../authenticate.ts';
import type { Recover } from '../idempotency.ts';
import { objectBody, textMember } from '../input/bodies.ts';
import type { ConfigRoutesOptions } from './options.ts';
import { parameter, queryOf, wordOf } from './request.ts';

const list = '/api/config/sources';
const one = `${list}/:name`;

/** The routes about sources. */
export function addSourceRoutes(app: FastifyInstance, { engine, sources: rules }: ConfigRoutesOptions): void {
  const recover: Recover = async (request) => showSource(engine, callOf(request), parameter(request, 'name'));
  const recoverMade: Recover = async (request, reply) => {
    void reply.code(201);
    return showSource(engine, callOf(request), textMember(objectBody(request.body), 'name'));
  };
  app.get(list, async (request) => sourceStatuses(engine, callOf(request)));
  app.get(one, async (request) => showSource(engine, callOf(request), parameter(request, 'name')));
  const create = { access: { module: 'config', operation: 'create' }, recover: recoverMade } as const;
  app.post(list, { config: create }, async (request, reply) =>
    reply.code(201).send(await createSource(engine, callOf(request), objectBody(request.body), rules)),
  );
  app.put(one, async (request) => {
    const given = { id: parameter(request, 'name'), body: objectBody(request.body), rules };
    return replaceSource(engine, callOf(request), given);
  });
  app.delete(one, { config: { access: { module: 'config', operation: 'delete' } } }, async (request) => {
    const query = queryOf(request);
    const objects = wordOf(query, 'objects', ['orphan', 'prune'] as const);
    return deleteSource(engine, callOf(request), parameter(request, 'name'), { objects, approve: query['approve'] });
  });
  app.post(`${one}/reconcile`, async (request, reply) =>
    reply.code(202).send(await requestSourceReconcile(engine, callOf(request), parameter(request, 'name'))),
  );
  for (const [verb, suspended] of [
    ['suspend', true],
    ['resume', false],
  ] as const)
    app.post(`${one}/${verb}`, { config: { recover } }, async (request) =>
      setSourceSuspended(engine, callOf(request), parameter(request, 'name'), suspended),
    );
  const recoverDetached: Recover = async (request, _reply, { revision }) =>
    revision === undefined ? undefined : findDetached(engine, callOf(request), parameter(request, 'name'), revision);
  app.post(`${one}/detach`, { config: { recover: recoverDetached } }, async (request) =>
    detachSource(engine, callOf(request), parameter(request, 'name')),
  );
}
